import Promises
import Testing

/// Inputs of `any`, numbered from 0, with a model of the result.
protocol AnyCase: Sendable {
    /// The inputs that fulfil, each with its number; the others reject.
    var values: Set<Int> { get }
    /// The inputs in the order in which they settle.
    var order: [Int] { get }

    /// What the result must be, and how many inputs have settled then. Of those that have settled before,
    /// the first one counts first.
    func expected(_ settledBefore: Int) -> (outcome: String, settled: Int)
}

extension AnyCase {
    /// The inputs as the result sees them settle.
    func seen(_ settledBefore: Int) -> [Int] {
        order.prefix(settledBefore).sorted() + order.dropFirst(settledBefore)
    }

    /// The outcome where the result has values: of each input its value, or `-`.
    var parts: String { order.sorted().map { values.contains($0) ? "\($0)" : "-" }.joined() }

    static func permutations(_ items: [Int]) -> [[Int]] {
        guard !items.isEmpty else { return [[]] }
        return items.flatMap { first in
            permutations(items.filter { $0 != first }).map { [first] + $0 }
        }
    }

    static func subsets(_ count: Int) -> [Set<Int>] {
        (0..<(1 << count)).map { bits in Set((0..<count).filter { bits & (1 << $0) != 0 }) }
    }
}

/// Settles the inputs of `any` in the order of a case, and compares the result with the model.
struct AnyModel {
    let context: ManualContext

    /// With promises of a local context; also expects that the inputs are withdrawn that no longer matter.
    func checkLocally(
        _ tested: some AnyCase, settledBefore: Int,
        _ combine:
            @Sendable (LocalContext, [(key: Int, promise: LocalPromise<Int>)])
            -> LocalPromise<AnyResult<Int, Int>>
    ) {
        LocalContext.run(on: context) { local in
            let boxes = tested.order.map { _ in SettlingBox(local) }
            func settle(_ input: Int) {
                self.settle(
                    input, of: tested, { boxes[input].fulfill($0) }, { boxes[input].reject($0) })
            }
            for input in tested.order.prefix(settledBefore) { settle(input) }
            let result = combine(local, boxes.enumerated().map { (key: $0, promise: $1.promise) })
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

    /// With promises that any thread may settle.
    func check(
        _ tested: some AnyCase, settledBefore: Int,
        _ combine: ([(key: Int, promise: Promise<Int>)]) -> Promise<AnyResult<Int, Int>>
    ) {
        let resolvers = tested.order.map { _ in Resolver<Int>(on: context).shared() }
        func settle(_ input: Int) {
            self.settle(
                input, of: tested, { resolvers[input].fulfill($0) }, { resolvers[input].reject($0) }
            )
        }
        for input in tested.order.prefix(settledBefore) { settle(input) }
        let result = combine(resolvers.enumerated().map { (key: $0, promise: $1.promise) })
        context.drain()
        expect(tested, settledBefore, settle) {
            result.value.map { .success($0) } ?? result.error.map { .failure($0) }
        }
    }

    private func settle(
        _ input: Int, of tested: some AnyCase, _ fulfill: (Int) -> Void,
        _ reject: (any Error) -> Void
    ) {
        if tested.values.contains(input) { fulfill(input) } else { reject(Failure("\(input)")) }
        context.drain()
    }

    /// Settles the remaining inputs, and expects the outcome at the right one of them.
    private func expect(
        _ tested: some AnyCase, _ settledBefore: Int, _ settle: (Int) -> Void,
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
}
