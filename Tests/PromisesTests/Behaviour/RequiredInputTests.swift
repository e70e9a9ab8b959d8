import Promises
import Synchronization
import Testing

/// `any(_:required:)` beside a model of ten lines: up to four inputs with every outcome, every choice of
/// required inputs, in every order of settling; five in some of the orders.
@Suite(.timeLimit(.minutes(5))) struct RequiredInputTests {
    /// The inputs are numbered from 0; those whose number is in `values` fulfil with it.
    struct Case {
        let values: Set<Int>
        let required: Set<Int>
        /// In the order in which they settle.
        let order: [Int]

        /// What the result must be, and how many inputs have settled then. Of those that have settled before,
        /// the first one counts first.
        func expected(_ settledBefore: Int) -> (outcome: String, settled: Int) {
            let seen = order.prefix(settledBefore).sorted() + order.dropFirst(settledBefore)
            for (position, input) in seen.enumerated()
            where required.contains(input) && !values.contains(input) {
                return ("failed \(input)", position + 1)
            }
            let parts = order.sorted().map { values.contains($0) ? "\($0)" : "-" }
            if !values.isEmpty { return (parts.joined(), order.count) }
            return ("all failed", order.count)
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

        private static func permutations(_ items: [Int]) -> [[Int]] {
            guard !items.isEmpty else { return [[]] }
            return items.flatMap { first in
                permutations(items.filter { $0 != first }).map { [first] + $0 }
            }
        }

        private static func subsets(_ count: Int) -> [Set<Int>] {
            (0..<(1 << count)).map { bits in Set((0..<count).filter { bits & (1 << $0) != 0 }) }
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

    @Test("F69: on a local context, the result is as in the model", arguments: [0, 1, 2])
    func localResultIsAsInTheModel(settledBefore: Int) {
        #expect(Case.all.count > 6000)
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
                let result = local.any(inputs, required: tested.required)
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

    @Test("F69: the result is as in the model", arguments: [0, 1])
    func resultIsAsInTheModel(settledBefore: Int) {
        for tested in Case.all where tested.order.count < 4 {
            let resolvers = tested.order.map { _ in Resolver<Int>(on: context).shared() }
            func settle(_ input: Int) {
                self.settle(
                    input, of: tested, { resolvers[input].fulfill($0) },
                    { resolvers[input].reject($0) })
            }
            for input in tested.order.prefix(settledBefore) { settle(input) }
            let inputs = resolvers.enumerated().map { (key: $0, promise: $1.promise) }
            let result = any(inputs, required: tested.required)
            context.drain()
            expect(tested, settledBefore, settle) {
                result.value.map { .success($0) } ?? result.error.map { .failure($0) }
            }
        }
    }

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
