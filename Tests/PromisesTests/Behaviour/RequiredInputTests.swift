import Promises
import Synchronization
import Testing

/// `any(_:required:)` beside a model of ten lines: up to four inputs with every outcome, every choice of
/// required inputs, in every order of settling; five in some of the orders.
@Suite(.timeLimit(.minutes(5))) struct RequiredInputTests {
    struct Case: AnyCase {
        let values: Set<Int>
        let required: Set<Int>
        let order: [Int]

        func expected(_ settledBefore: Int) -> (outcome: String, settled: Int) {
            for (position, input) in seen(settledBefore).enumerated()
            where required.contains(input) && !values.contains(input) {
                return ("failed \(input)", position + 1)
            }
            return (values.isEmpty ? "all failed" : parts, order.count)
        }

        static let all: [Case] = (1...5).flatMap { count in
            let orders = permutations(Array(0..<count)).enumerated()
                .filter { count < 5 || $0.offset % 11 == 0 }.map(\.element)
            return orders.flatMap { order in
                subsets(count).flatMap { values in
                    subsets(count).map { Case(values: values, required: $0, order: order) }
                }
            }
        }
    }

    private let context = ManualContext()

    @Test("F69: on a local context, the result is as in the model", arguments: [0, 1, 2])
    func localResultIsAsInTheModel(settledBefore: Int) {
        #expect(Case.all.count > 6000)
        for tested in Case.all {
            AnyModel(context: context).checkLocally(tested, settledBefore: settledBefore) {
                $0.any($1, required: tested.required)
            }
        }
    }

    @Test("F69: the result is as in the model", arguments: [0, 1])
    func resultIsAsInTheModel(settledBefore: Int) {
        for tested in Case.all where tested.order.count < 4 {
            AnyModel(context: context).check(tested, settledBefore: settledBefore) {
                any($0, required: tested.required)
            }
        }
    }

    @Test func keysOfNoInputHaveNoEffect() {
        LocalContext.run(on: context) { local in
            let result = local.any([(key: 1, promise: local.value("a"))], required: [1, 2])
            context.drain()
            #expect(result.value?.count == 1)
        }
    }

    /// Both have settled before the result has its turn: the first one that settled decides.
    @Test(arguments: [[0, 1], [1, 0]]) func twoFailuresInOneTurn(order: [Int]) {
        LocalContext.run(on: context) { local in
            let boxes = [SettlingBox(local), SettlingBox(local), SettlingBox(local)]
            let inputs = boxes.enumerated().map { (key: $0, promise: $1.promise) }
            let result = local.any(inputs, required: [0, 1])
            for input in order { boxes[input].reject(Failure("\(input)")) }
            context.drain()
            #expect(result.error as? Failure == Failure("\(order[0])"))
            #expect(boxes[2].isCancelled)
        }
    }

    /// The failure and the cancellation come before the result has its turn.
    @Test func cancellingAfterAFailureWithdraws() {
        LocalContext.run(on: context) { local in
            let boxes = [SettlingBox(local), SettlingBox(local)]
            let inputs = boxes.enumerated().map { (key: $0, promise: $1.promise) }
            let result = local.any(inputs, required: [0])
            boxes[0].reject(Failure("x"))
            result.cancel()
            context.drain()
            #expect(result.error is Cancelled)
            #expect(boxes[1].isCancelled)
        }
    }

    @Test func anIgnoredErrorIsNoFailure() {
        LocalContext.run(on: context) { local in
            func result(_ error: any Error, beside other: LocalPromise<Int>) -> LocalPromise<
                AnyResult<Int, Int>
            > {
                local.any(
                    [(key: 0, promise: local.error(error)), (key: 1, promise: other)],
                    required: [0],
                    ignoring: { $0 as? Failure == Failure("ignored") })
            }
            let good = result(Failure("ignored"), beside: local.value(1))
            let bad = result(Failure("other"), beside: local.value(1))
            let none = result(Failure("ignored"), beside: local.error(Failure("x")))
            context.drain()
            #expect(good.value?.count == 2)
            #expect(bad.error as? Failure == Failure("other"))
            #expect(none.error is ErrorDictionary<Int>)
        }
    }

    @Test func onePromiseMayBeRequiredUnderOneOfItsKeys() {
        LocalContext.run(on: context) { local in
            let (shared, other) = (SettlingBox(local), SettlingBox(local))
            let promise = shared.promise
            let inputs = [
                (key: 0, promise: promise), (key: 1, promise: promise),
                (key: 2, promise: other.promise),
            ]
            let result = local.any(inputs, required: [1])
            shared.reject(Failure("x"))
            context.drain()
            #expect(result.error as? Failure == Failure("x"))
            #expect(other.isCancelled)
        }
    }

    @Test func aFailureWithdrawsOnOtherContexts() {
        let resolvers = (0..<3).map { _ in Resolver<Int>(on: context).shared() }
        let inputs = resolvers.enumerated().map { (key: $0, promise: $1.promise) }
        let result = any(inputs, required: [1])
        resolvers[1].reject(Failure("x"))
        context.drain()
        #expect(result.error as? Failure == Failure("x"))
        #expect(resolvers[0].isCancelled && resolvers[2].isCancelled)
    }

    /// A required input fails on one thread while another one cancels the result.
    @Test func aFailureAndACancellationDecideOnce() {
        for _ in 0..<200 {
            let resolvers = (0..<3).map { _ in Resolver<Int>(on: .inline).shared() }
            let inputs = resolvers.enumerated().map { (key: $0, promise: $1.promise) }
            let result = any(inputs, required: [0, 1])
            concurrently([
                { resolvers[0].reject(Failure("a")) }, { resolvers[1].reject(Failure("b")) },
                { result.cancel() },
            ])
            #expect(!result.isPending)
            #expect(resolvers[2].isCancelled)
        }
    }

    @Test func cancellingWithdrawsFromRequiredInputs() {
        LocalContext.run(on: context) { local in
            let boxes = [SettlingBox(local), SettlingBox(local)]
            let inputs = boxes.enumerated().map { (key: $0, promise: $1.promise) }
            local.any(inputs, required: [0]).cancel()
            context.drain()
            #expect(boxes[0].isCancelled && boxes[1].isCancelled)
        }
    }
}
