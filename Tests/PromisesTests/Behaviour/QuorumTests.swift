import Promises
import Testing

/// `any(_:enough:)` beside a model: up to four inputs with every outcome and every quorum, in every order of
/// settling.
@Suite(.timeLimit(.minutes(5))) struct QuorumTests {
    /// The inputs are numbered from 0; those whose number is in `values` fulfil with it.
    struct Case {
        let values: Set<Int>
        let enough: Int
        /// In the order in which they settle.
        let order: [Int]

        /// What the result must be, and how many inputs have settled then. Of those that have settled before,
        /// the first one counts first.
        func expected(_ settledBefore: Int) -> (outcome: String, settled: Int) {
            let seen = order.prefix(settledBefore).sorted() + order.dropFirst(settledBefore)
            let spare = max(0, order.count - max(1, enough))
            var failed = 0
            for (position, input) in seen.enumerated() where !values.contains(input) {
                failed += 1
                if failed > spare { return ("failed \(input)", position + 1) }
            }
            return (
                order.sorted().map { values.contains($0) ? "\($0)" : "-" }.joined(), order.count
            )
        }

        static let all: [Case] = (1...4).flatMap { count in
            permutations(Array(0..<count)).flatMap { order in
                (0..<(1 << count)).flatMap { bits in
                    (0...(count + 1)).map { enough in
                        Case(
                            values: Set((0..<count).filter { bits & (1 << $0) != 0 }),
                            enough: enough, order: order)
                    }
                }
            }
        }

        private static func permutations(_ items: [Int]) -> [[Int]] {
            guard !items.isEmpty else { return [[]] }
            return items.flatMap { first in
                permutations(items.filter { $0 != first }).map { [first] + $0 }
            }
        }
    }

    private static func text(_ result: Result<AnyResult<Int, Int>, any Error>) -> String {
        switch result {
        case .success(let outcomes):
            (0..<outcomes.count).map { position in
                outcomes.withValue(at: position) { "\($0)" } ?? "-"
            }.joined()
        case .failure(let error as Failure): "failed \(error.name)"
        case .failure(is ErrorDictionary<Int>): "all failed"
        case .failure(let error): "\(error)"
        }
    }

    private let context = ManualContext()

    private func settle(
        _ input: Int, of tested: Case, _ fulfill: (Int) -> Void, _ reject: (any Error) -> Void
    ) {
        if tested.values.contains(input) { fulfill(input) } else { reject(Failure("\(input)")) }
        context.drain()
    }

    /// Settles the remaining inputs, and expects the outcome at the right one of them.
    private func expect(
        _ tested: Case, _ settledBefore: Int, _ settle: (Int) -> Void,
        _ result: () -> Result<AnyResult<Int, Int>, any Error>?
    ) {
        let (outcome, settled) = tested.expected(settledBefore)
        for (position, input) in tested.order.enumerated().dropFirst(settledBefore) {
            if position < settled { #expect(result() == nil, "\(tested): too early") }
            guard position < settled else { break }
            settle(input)
        }
        #expect(result().map(Self.text) == outcome, "\(tested)")
    }

    @Test("F69: on a local context, the quorum is as in the model", arguments: [0, 1, 2])
    func localQuorumIsAsInTheModel(settledBefore: Int) {
        #expect(Case.all.count > 2000)
        for tested in Case.all {
            LocalContext.run(on: context) { local in
                let boxes = tested.order.map { _ in SettlingBox(local) }
                func settle(_ input: Int) {
                    self.settle(
                        input, of: tested, { boxes[input].fulfill($0) }, { boxes[input].reject($0) }
                    )
                }
                for input in tested.order.prefix(settledBefore) { settle(input) }
                let inputs = boxes.enumerated().map { (key: $0, promise: $1.promise) }
                let result = local.any(inputs, enough: tested.enough)
                context.drain()
                expect(tested, settledBefore, settle) {
                    result.value.map { .success($0) } ?? result.error.map { .failure($0) }
                }
                let (outcome, settled) = tested.expected(settledBefore)
                for input in tested.order.dropFirst(max(settled, settledBefore)) {
                    #expect(boxes[input].isCancelled, "\(tested): \(outcome), and \(input) goes on")
                }
            }
        }
    }

    @Test("F69: the quorum is as in the model", arguments: [0, 1])
    func quorumIsAsInTheModel(settledBefore: Int) {
        for tested in Case.all {
            let resolvers = tested.order.map { _ in Resolver<Int>(on: context).shared() }
            func settle(_ input: Int) {
                self.settle(
                    input, of: tested, { resolvers[input].fulfill($0) },
                    { resolvers[input].reject($0) })
            }
            for input in tested.order.prefix(settledBefore) { settle(input) }
            let inputs = resolvers.enumerated().map { (key: $0, promise: $1.promise) }
            let result = any(inputs, enough: tested.enough)
            context.drain()
            expect(tested, settledBefore, settle) {
                result.value.map { .success($0) } ?? result.error.map { .failure($0) }
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
