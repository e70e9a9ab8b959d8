// `any`: waits for every input, and succeeds with at least one value, with every required one, or with enough.

import Synchronization

extension Node {
    /// - Parameters:
    ///   - isRequired: whether the failure of an input is the failure of the result
    ///   - isIgnored: whether an error of a required input is no failure; nil if each is one
    @inlinable
    static func any<Key: Hashable & Sendable, Handle: NodeHandle>(
        _ inputs: [(key: Key, promise: Handle)], placement: Placement,
        isRequired: (Key) -> Bool = { _ in false },
        isIgnored: (@Sendable (any Error) -> Bool)? = nil
    ) -> Node {
        typealias Output = AnyResult<Key, Handle.Value>
        if inputs.isEmpty {
            return .failed(ErrorDictionary<Key>([]), as: Output.self, placement: placement)
        }
        let result = Node.combinatorResult(Output.self, count: inputs.count, placement: placement)
        result.onInputSettled { $0.handleSettledInput(keyedBy: Key.self, of: Handle.Value.self) }
        let inputSlots = inputs.map { key, promise in
            if isRequired(key) {
                let inputSlot = result.requiredSlot(
                    keyedBy: Key.self, Handle.Value.self, at: promise.node, isIgnored)
                return AnyInput(key: key, inputSlot: inputSlot, isItself: false)
            }
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

    /// The slot of a required input: its failure rejects the result at once.
    @inlinable
    func requiredSlot<Key: Hashable & Sendable, Value>(
        keyedBy: Key.Type, _ type: Value.Type, at input: Node,
        _ isIgnored: (@Sendable (any Error) -> Bool)?
    ) -> Node {
        // Without a capture, the step needs no memory.
        guard let isIgnored else {
            return inputSlot(Value.self, at: input) { inputSlot in
                guard let result = inputSlot.receiveOutcome(Value.self) else { return }
                guard inputSlot.isRejected else {
                    return result.handleSettledInput(keyedBy: Key.self, of: Value.self)
                }
                result.failAny(inputSlot.error, keyedBy: Key.self, of: Value.self)
            }
        }
        return inputSlot(Value.self, at: input) { inputSlot in
            guard let result = inputSlot.receiveOutcome(Value.self) else { return }
            guard inputSlot.isRejected, !isIgnored(inputSlot.error) else {
                return result.handleSettledInput(keyedBy: Key.self, of: Value.self)
            }
            result.failAny(inputSlot.error, keyedBy: Key.self, of: Value.self)
        }
    }

    /// Rejects before all inputs have settled, and withdraws from the rest.
    @inlinable
    func failAny<Key: Hashable & Sendable, Value>(
        _ error: any Error, keyedBy: Key.Type, of: Value.Type
    ) {
        guard decide() else { return }
        let inputs = value(as: AnyResult<Key, Value>.self).inputs
        clear()
        settleDecided(Result<AnyResult<Key, Value>, any Error>.failure(error))
        release(inputs)
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

/// Waits for all inputs, then gives their outcomes, in their order, if at least one is a value and
/// every required input has one. Rejects with the first error of a required input, at once, and
/// withdraws from the others; with `ErrorDictionary` if none is required and all are rejected.
///
///     any([("user", user), ("ads", ads)], required: ["user"])
///
/// Handlers run on the context of the first input, in a turn after the input that decides it.
/// Cancelling the result withdraws from every input that is still pending.
///
/// - Parameters:
///   - inputs: promises with their keys
///   - keys: the keys of the required inputs; a key without an input has no effect
@inlinable
public func any<Key: Hashable & Sendable, Value: Sendable>(
    _ inputs: [(key: Key, promise: Promise<Value>)], required keys: some Collection<Key>
) -> Promise<AnyResult<Key, Value>> {
    .init(
        Node.any(
            inputs, placement: inputs.first?.promise.node.placement ?? .forNewChain(on: nil),
            isRequired: { keys.contains($0) }))
}

/// Waits for all inputs, then gives their outcomes, in their order, if enough of them are values.
/// Rejects as soon as too many inputs have failed, with the error of the last one of these, and
/// withdraws from the others; without inputs, with an empty `ErrorDictionary`.
///
///     any(replicas.map { (key: $0.name, promise: $0.write(row)) }, enough: 2)
///
/// Handlers run on the context of the first input, in a turn after the input that decides it.
/// Cancelling the result withdraws from every input that is still pending.
///
/// - Parameters:
///   - inputs: promises with their keys
///   - count: how many values are enough; a number above the number of inputs means all, and a
///     number below 1 means 1
@inlinable
public func any<Key: Hashable & Sendable, Value: Sendable>(
    _ inputs: [(key: Key, promise: Promise<Value>)], enough count: Int
) -> Promise<AnyResult<Key, Value>> {
    let spares = Spares(inputs.count - max(1, count))
    return .init(
        Node.any(
            inputs, placement: inputs.first?.promise.node.placement ?? .forNewChain(on: nil),
            isRequired: { _ in true }, isIgnored: { _ in spares.take() }))
}

/// How many inputs may still fail. They may settle on several threads.
@usableFromInline
final class Spares: Sendable {
    private let left: Atomic<Int>

    @usableFromInline
    init(_ count: Int) { left = Atomic(max(0, count)) }

    /// False if none is left.
    @usableFromInline
    func take() -> Bool { left.subtract(1, ordering: .relaxed).newValue >= 0 }
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

    /// Waits for all inputs, then gives their outcomes, in their order, if at least one is a value and
    /// every required input has one. Rejects with the first error of a required input, at once, and
    /// withdraws from the others; with `ErrorDictionary` if none is required and all are rejected.
    ///
    /// Handlers run on the local context, in a turn after the input that decides it. Cancelling the
    /// result withdraws from every input that is still pending.
    ///
    /// - Parameters:
    ///   - inputs: promises with their keys
    ///   - keys: the keys of the required inputs; a key without an input has no effect
    @inlinable
    public func any<Key: Hashable & Sendable, Value>(
        _ inputs: [(key: Key, promise: LocalPromise<Value>)], required keys: some Collection<Key>
    ) -> LocalPromise<AnyResult<Key, Value>> {
        .init(Node.any(inputs, placement: placement, isRequired: { keys.contains($0) }))
    }

    /// Waits for all inputs, then gives their outcomes, in their order, if enough of them are values.
    /// Rejects as soon as too many inputs have failed, with the error of the last one of these, and
    /// withdraws from the others; without inputs, with an empty `ErrorDictionary`.
    ///
    /// Handlers run on the local context, in a turn after the input that decides it. Cancelling the
    /// result withdraws from every input that is still pending.
    ///
    /// - Parameters:
    ///   - inputs: promises with their keys
    ///   - count: how many values are enough; a number above the number of inputs means all, and a
    ///     number below 1 means 1
    @inlinable
    public func any<Key: Hashable & Sendable, Value>(
        _ inputs: [(key: Key, promise: LocalPromise<Value>)], enough count: Int
    ) -> LocalPromise<AnyResult<Key, Value>> {
        let spares = Spares(inputs.count - max(1, count))
        return .init(
            Node.any(
                inputs, placement: placement, isRequired: { _ in true },
                isIgnored: { _ in spares.take() }))
    }

    /// The same, but an error of a required input for which `isIgnored` returns true is no failure: the
    /// input only has no value.
    @inlinable
    package func any<Key: Hashable & Sendable, Value>(
        _ inputs: [(key: Key, promise: LocalPromise<Value>)], required keys: some Collection<Key>,
        ignoring isIgnored: @escaping @Sendable (any Error) -> Bool
    ) -> LocalPromise<AnyResult<Key, Value>> {
        .init(
            Node.any(
                inputs, placement: placement, isRequired: { keys.contains($0) },
                isIgnored: isIgnored))
    }
}
