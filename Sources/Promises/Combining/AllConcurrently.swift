// `all` over work that has not started: a limited number at a time. `sequence`: one after the
// other.

/// Starts work for inputs while fewer than `limit` promises are pending, and collects the values in
/// the order of the inputs. Confined to the context of its result.
final class ConcurrentInputs<Inputs: IteratorProtocol, Value> {
    private var inputs: Inputs
    private let makePromise: (Inputs.Element) throws -> Node
    private let limit: Int
    private var running = 0
    private var isFinished = false
    private var inputSlots: [Node] = []

    init(_ inputs: Inputs, limit: Int, _ makePromise: @escaping (Inputs.Element) throws -> Node) {
        self.inputs = inputs
        self.limit = limit
        self.makePromise = makePromise
    }

    func result(placement: Placement) -> Node {
        let placement = placement.serial
        let result = Node.root([Value].self, placement: placement)
        result.onCancel { [self] result in
            isFinished = true
            result.release(inputSlots)
        }
        placement.context.enqueue(.job(on: placement) { [self] _ in startInputs(for: result) })
        return result
    }

    private func startInputs(for result: Node) {
        // A cancelled result starts nothing more, even before its cancellation handler has run.
        while !isFinished, !result.isDecided, running < limit {
            guard let input = inputs.next() else {
                isFinished = running == 0
                if isFinished { result.fulfill(inputSlots.map { $0.value(as: Value.self) }) }
                return
            }
            do {
                wait(for: try makePromise(input), in: result)
            } catch {
                rejectEarly(result, error)
            }
        }
    }

    private func wait(for node: Node, in result: Node) {
        running += 1
        let inputSlot = result.inputSlot(Value.self, at: node) { [self] inputSlot in
            guard let result = inputSlot.receiveOutcome(Value.self) else { return }
            running -= 1
            if inputSlot.isRejected {
                rejectEarly(result, inputSlot.error)
            } else {
                startInputs(for: result)
            }
        }
        inputSlots.append(inputSlot)
        node.attach(inputSlot)
    }

    private func rejectEarly(_ result: Node, _ error: any Error) {
        guard !isFinished else { return }
        isFinished = true
        result.reject(error)
        result.release(inputSlots)
    }
}

extension Node {
    static func all<Input, Handle: NodeHandle>(
        _ inputs: some Sequence<Input>, limit: Int, placement: Placement,
        _ makePromise: @escaping (Input) throws -> Handle
    ) -> Node {
        guard limit > 0 else {
            return .failed(PromiseError.badInput, as: [Handle.Value].self, placement: placement)
        }
        return ConcurrentInputs<_, Handle.Value>(inputs.makeIterator(), limit: limit) { input in
            try placement.start { try makePromise(input) }
        }.result(placement: placement)
    }
}

/// Every value in the order of the inputs; at most `limit` promises are pending at a time. Nothing
/// more is started after an error.
///
/// `body` runs on `context`, or else on the current context or `SharedPool`; the first calls soon,
/// not inside this call, the others when a promise has settled. What it throws rejects. A limit
/// below one rejects with `PromiseError.badInput` and takes no input. An error withdraws from what
/// is running, and so does cancelling the result.
public func all<Input: Sendable, Value: Sendable>(
    _ inputs: some Sequence<Input> & Sendable, concurrently limit: Int,
    on context: (any ExecutionContext)? = nil,
    _ body: @escaping @Sendable (Input) throws -> Promise<Value>
) -> Promise<[Value]> {
    .init(Node.all(inputs, limit: limit, placement: .forNewChain(on: context), body))
}

/// Every value in the order of the inputs; each promise is started when the previous one is
/// fulfilled.
///
/// `body` runs on `context`, or else on the current context or `SharedPool`; the first time soon,
/// not inside this call. What it throws rejects, and ends the sequence like an error. Cancelling
/// the result withdraws from what is running and starts nothing more.
public func sequence<Input: Sendable, Value: Sendable>(
    _ inputs: some Sequence<Input> & Sendable, on context: (any ExecutionContext)? = nil,
    _ body: @escaping @Sendable (Input) throws -> Promise<Value>
) -> Promise<[Value]> {
    all(inputs, concurrently: 1, on: context, body)
}

extension LocalContext {
    /// Every value in the order of the inputs; at most `limit` promises are pending at a time.
    /// Nothing more is started after an error.
    ///
    /// `body` runs on the local context; the first calls soon, not inside this call, the others
    /// when a promise has settled. What it throws rejects. A limit below one rejects with
    /// `PromiseError.badInput` and takes no input. An error withdraws from what is running, and so
    /// does cancelling the result.
    public func all<Input, Value>(
        _ inputs: some Sequence<Input>, concurrently limit: Int,
        _ body: @escaping (Input) throws -> LocalPromise<Value>
    ) -> LocalPromise<[Value]> {
        .init(Node.all(inputs, limit: limit, placement: placement, body))
    }

    /// Every value in the order of the inputs; each promise is started when the previous one is
    /// fulfilled.
    ///
    /// `body` runs on the local context; the first time soon, not inside this call. What it throws
    /// rejects, and ends the sequence like an error. Cancelling the result withdraws from what is
    /// running and starts nothing more.
    public func sequence<Input, Value>(
        _ inputs: some Sequence<Input>, _ body: @escaping (Input) throws -> LocalPromise<Value>
    ) -> LocalPromise<[Value]> {
        all(inputs, concurrently: 1, body)
    }
}
