// `any`: waits for every input, and succeeds with at least one value.

extension Node {
    @inlinable
    static func any<Key: Hashable & Sendable, Handle: NodeHandle>(
        _ inputs: [(key: Key, promise: Handle)], placement: Placement
    ) -> Node {
        typealias Output = AnyResult<Key, Handle.Value>
        if inputs.isEmpty {
            return .failed(ErrorDictionary<Key>([]), as: Output.self, placement: placement)
        }
        let result = Node.combinatorResult(Output.self, count: inputs.count, placement: placement)
        result.onInputSettled { $0.handleSettledInput(keyedBy: Key.self, of: Handle.Value.self) }
        let inputSlots = inputs.map { key, promise in
            if promise.node.useAsOwnInputSlot(in: result) {
                return AnyInput(key: key, inputSlot: promise.node, isItself: true)
            }
            let inputSlot = result.inputSlot(Handle.Value.self, at: promise.node) { inputSlot in
                inputSlot.receiveOutcome(Handle.Value.self)?
                    .handleSettledInput(keyedBy: Key.self, of: Handle.Value.self)
            }
            return AnyInput(key: key, inputSlot: inputSlot, isItself: false)
        }
        result.write(Output(inputSlots))
        result.setStep { $0.release(inputSlots) }
        _ = result.control.insert(ControlBits.started)
        wait(inputSlots, at: inputs)
        return result
    }

    /// Attaches each input slot to its input, unless the input is its own slot. All are counted
    /// before the first one can settle (see `wait(_:at:)` for lists of nodes).
    @inlinable
    static func wait<Key, Handle: NodeHandle>(
        _ inputSlots: [AnyInput<Key>], at inputs: [(key: Key, promise: Handle)]
    ) {
        for index in inputSlots.indices where !inputSlots[index].isItself {
            _ = inputs[index].promise.node.control.add(ControlBits.consumer)
        }
        for index in inputSlots.indices where !inputSlots[index].isItself {
            inputs[index].promise.node.push(inputSlots[index].inputSlot)
        }
    }

    /// Withdraws from the inputs that are still pending.
    @inlinable
    func release<Key>(_ inputs: [AnyInput<Key>]) {
        release(inputs.filter { !$0.isItself }.map(\.inputSlot))
        for input in inputs where input.isItself { input.inputSlot.withdrawInput(from: self) }
    }

    @inlinable
    func handleSettledInput<Key: Hashable & Sendable, Value>(keyedBy: Key.Type, of: Value.Type) {
        guard countSettledInput(AnyResult<Key, Value>.self) else { return }
        concludeSoon { $0.concludeAny(keyedBy: Key.self, of: Value.self) }
    }

    /// The result is already written; an error replaces it if no input has a value.
    @inlinable
    func concludeAny<Key: Hashable & Sendable, Value>(keyedBy: Key.Type, of: Value.Type) {
        guard decide() else { return }
        let hasValue = unsafe Node.valuePointer(of: AnyResult<Key, Value>.self, at: valueSlot)
            .pointee.hasValue
        if hasValue { return publish(StateBits.fulfilled) }
        let inputs = value(as: AnyResult<Key, Value>.self).inputs
        clear()
        write(error: ErrorDictionary(inputs.map { (key: $0.key, error: $0.inputSlot.error) }))
        publish(StateBits.rejected)
    }
}

/// Waits for all inputs, then gives their outcomes if at least one is a value; else rejects with
/// `ErrorDictionary`.
///
/// Handlers run on the context of the first input, in a turn after the input that decides it.
/// Cancelling the result withdraws from every input that is still pending.
public func any<Key: Hashable & Sendable, Value: Sendable>(
    _ promises: [Key: Promise<Value>]
) -> Promise<AnyResult<Key, Value>> {
    any(promises.map { (key: $0.key, promise: $0.value) })
}

/// Waits for all inputs, then gives their outcomes, in their order, if at least one is a value;
/// else rejects with `ErrorDictionary`.
///
/// Handlers run on the context of the first input, in a turn after the input that decides it.
/// Cancelling the result withdraws from every input that is still pending.
@inlinable
public func any<Key: Hashable & Sendable, Value: Sendable>(
    _ inputs: [(key: Key, promise: Promise<Value>)]
) -> Promise<AnyResult<Key, Value>> {
    .init(
        Node.any(inputs, placement: inputs.first?.promise.node.placement ?? .forNewChain(on: nil)))
}

extension LocalContext {
    /// Waits for all inputs, then gives their outcomes if at least one is a value; else rejects
    /// with `ErrorDictionary`.
    ///
    /// Handlers run on the local context, in a turn after the input that decides it. Cancelling the
    /// result withdraws from every input that is still pending.
    public func any<Key: Hashable & Sendable, Value>(
        _ promises: [Key: LocalPromise<Value>]
    ) -> LocalPromise<AnyResult<Key, Value>> {
        any(promises.map { (key: $0.key, promise: $0.value) })
    }

    /// Waits for all inputs, then gives their outcomes, in their order, if at least one is a value;
    /// else rejects with `ErrorDictionary`.
    ///
    /// Handlers run on the local context, in a turn after the input that decides it. Cancelling the
    /// result withdraws from every input that is still pending.
    @inlinable
    public func any<Key: Hashable & Sendable, Value>(
        _ inputs: [(key: Key, promise: LocalPromise<Value>)]
    ) -> LocalPromise<AnyResult<Key, Value>> {
        .init(Node.any(inputs, placement: placement))
    }
}
