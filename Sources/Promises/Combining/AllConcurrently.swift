// `all` over work that has not begun: at most so many at a time. `sequence`: one after the other.

/// Pulls inputs while there is room, and collects the values in the order of the inputs. Lives on
/// the context of its result.
final class ConcurrentInputs<Inputs: IteratorProtocol, Face: PromiseFace> {
    private var inputs: Inputs
    private let begin: (Inputs.Element) throws -> Face
    private let limit: Int
    private var running = 0
    private var isOver = false
    private var inputSlots: [Node] = []

    init(_ inputs: Inputs, limit: Int, _ begin: @escaping (Inputs.Element) throws -> Face) {
        self.inputs = inputs
        self.limit = limit
        self.begin = begin
    }

    func result(placement: Placement) -> Node {
        let placement = placement.serial
        let result = Node.root([Face.Value].self, placement: placement)
        result.onCancel { [self] result in
            isOver = true
            result.release(inputSlots)
        }
        placement.context.enqueue(.job(on: placement) { [self] _ in pull(for: result) })
        return result
    }

    private func pull(for result: Node) {
        // A cancelled result begins nothing more, even before its cancellation handler has run.
        while !isOver, !result.isDecided, running < limit {
            guard let input = inputs.next() else {
                isOver = running == 0
                if isOver { result.fulfill(inputSlots.map { $0.value(as: Face.Value.self) }) }
                return
            }
            do { start(try begin(input).node, for: result) } catch { fail(result, error) }
        }
    }

    private func start(_ member: Node, for result: Node) {
        running += 1
        let inputSlot = result.inputSlot(Face.Value.self, at: member) { [self] inputSlot in
            guard let result = inputSlot.arrive(Face.Value.self) else { return }
            running -= 1
            if inputSlot.isRejected { fail(result, inputSlot.error) } else { pull(for: result) }
        }
        inputSlots.append(inputSlot)
        member.attach(inputSlot)
    }

    private func fail(_ result: Node, _ error: any Error) {
        guard !isOver else { return }
        isOver = true
        result.reject(error)
        result.release(inputSlots)
    }
}

extension Node {
    static func all<Input, Face: PromiseFace>(
        _ inputs: some Sequence<Input>, limit: Int, placement: Placement,
        _ begin: @escaping (Input) throws -> Face
    ) -> Node {
        guard limit > 0 else {
            return .failed(PromiseError.badInput, as: [Face.Value].self, placement: placement)
        }
        return ConcurrentInputs(inputs.makeIterator(), limit: limit, begin).result(
            placement: placement)
    }
}

/// Every value in the order of the inputs; at most `limit` promises are pending at a time. Nothing
/// more is begun after an error.
///
/// `body` runs on `context`, or else on the current one or the pool; the first ones soon, not
/// inside this call, the others when there is room. What it throws rejects. A limit below one
/// rejects with `PromiseError.badInput` and pulls nothing. An error withdraws from what is running,
/// and so does cancelling the result.
public func all<Input: Sendable, Value: Sendable>(
    _ inputs: some Sequence<Input> & Sendable, concurrently limit: Int,
    on context: (any ExecutionContext)? = nil,
    _ body: @escaping @Sendable (Input) throws -> Promise<Value>
) -> Promise<[Value]> {
    .init(Node.all(inputs, limit: limit, placement: .beginning(on: context), body))
}

/// Every value in the order of the inputs; each promise is begun when the one before is fulfilled.
///
/// `body` runs on `context`, or else on the current one or the pool; the first time soon, not
/// inside this call. What it throws rejects, and ends the sequence like an error. Cancelling the
/// result withdraws from what is running and begins nothing more.
public func sequence<Input: Sendable, Value: Sendable>(
    _ inputs: some Sequence<Input> & Sendable, on context: (any ExecutionContext)? = nil,
    _ body: @escaping @Sendable (Input) throws -> Promise<Value>
) -> Promise<[Value]> {
    all(inputs, concurrently: 1, on: context, body)
}

extension LocalContext {
    /// Every value in the order of the inputs; at most `limit` promises are pending at a time.
    /// Nothing more is begun after an error.
    ///
    /// `body` runs on the core; the first ones soon, not inside this call, the others when there
    /// is room. What it throws rejects. A limit below one rejects with `PromiseError.badInput` and
    /// pulls nothing. An error withdraws from what is running, and so does cancelling the
    /// result.
    public func all<Input, Value>(
        _ inputs: some Sequence<Input>, concurrently limit: Int,
        _ body: @escaping (Input) throws -> LocalPromise<Value>
    ) -> LocalPromise<[Value]> {
        .init(Node.all(inputs, limit: limit, placement: placement, body))
    }

    /// Every value in the order of the inputs; each promise is begun when the one before is
    /// fulfilled.
    ///
    /// `body` runs on the core; the first time soon, not inside this call. What it throws rejects,
    /// and ends the sequence like an error. Cancelling the result withdraws from what is running
    /// and begins nothing more.
    public func sequence<Input, Value>(
        _ inputs: some Sequence<Input>, _ body: @escaping (Input) throws -> LocalPromise<Value>
    ) -> LocalPromise<[Value]> {
        all(inputs, concurrently: 1, body)
    }
}
