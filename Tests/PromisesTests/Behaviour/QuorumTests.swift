import Promises
import Testing

/// `any(_:enough:)` beside a model: up to four inputs with every outcome and every quorum, in every order of
/// settling.
@Suite(.timeLimit(.minutes(5))) struct QuorumTests {
    struct Case: AnyCase {
        let values: Set<Int>
        let enough: Int
        let order: [Int]

        func expected(_ settledBefore: Int) -> (outcome: String, settled: Int) {
            let spare = max(0, order.count - max(1, enough))
            var failed = 0
            for (position, input) in seen(settledBefore).enumerated()
            where !values.contains(input) {
                failed += 1
                if failed > spare { return ("failed \(input)", position + 1) }
            }
            return (parts, order.count)
        }

        static let all: [Case] = (1...4).flatMap { count in
            permutations(Array(0..<count)).flatMap { order in
                subsets(count).flatMap { values in
                    (0...(count + 1)).map { Case(values: values, enough: $0, order: order) }
                }
            }
        }
    }

    private let context = ManualContext()

    @Test("F69: on a local context, the quorum is as in the model", arguments: [0, 1, 2])
    func localQuorumIsAsInTheModel(settledBefore: Int) {
        #expect(Case.all.count > 2000)
        for tested in Case.all {
            AnyModel(context: context).checkLocally(tested, settledBefore: settledBefore) {
                $0.any($1, enough: tested.enough)
            }
        }
    }

    @Test("F69: the quorum is as in the model", arguments: [0, 1])
    func quorumIsAsInTheModel(settledBefore: Int) {
        for tested in Case.all {
            AnyModel(context: context).check(tested, settledBefore: settledBefore) {
                any($0, enough: tested.enough)
            }
        }
    }

    @Test func noInputsAreNotEnough() {
        let inputs: [(key: Int, promise: Promise<Int>)] = []
        #expect(any(inputs, enough: 0).error is ErrorDictionary<Int>)
        LocalContext.run(on: context) { local in
            let result = local.any([(key: Int, promise: LocalPromise<Int>)](), enough: 1)
            context.drain()
            #expect(result.error is ErrorDictionary<Int>)
        }
    }

    @Test func cancellingWithdraws() {
        LocalContext.run(on: context) { local in
            let boxes = [SettlingBox(local), SettlingBox(local)]
            let inputs = boxes.enumerated().map { (key: $0, promise: $1.promise) }
            local.any(inputs, enough: 1).cancel()
            context.drain()
            #expect(boxes[0].isCancelled && boxes[1].isCancelled)
        }
    }

    /// Inputs settle on several threads, and exactly the failure after the last spare one decides.
    @Test(arguments: [3, 4]) func failuresOnManyThreadsDecideOnce(enough: Int) {
        for _ in 0..<200 {
            let resolvers = (0..<6).map { _ in Resolver<Int>(on: .inline).shared() }
            let inputs = resolvers.enumerated().map { (key: $0, promise: $1.promise) }
            let result = any(inputs, enough: enough)
            concurrently(
                resolvers.indices.map { index in
                    {
                        if index < 3 {
                            resolvers[index].reject(Failure("\(index)"))
                        } else {
                            resolvers[index].fulfill(index)
                        }
                    }
                })
            #expect(enough == 4 ? result.error is Failure : result.value?.count == 6)
        }
    }
}
