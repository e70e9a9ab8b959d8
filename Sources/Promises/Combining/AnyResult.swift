/// The result of `any`: for every key a value or an error, in the order of the inputs, with at
/// least one value.
///
/// It reads the settled promises: no dictionary is made before `values` or `reasons` is read. If
/// two inputs have the same key, the first one counts.
public struct AnyResult<Key: Hashable & Sendable, Value> {
    @usableFromInline let inputs: [AnyInput<Key>]

    @inlinable
    init(_ inputs: [AnyInput<Key>]) {
        self.inputs = inputs
    }

    /// A result of known outcomes, in order: for tests, and for code that combines promises itself.
    ///
    /// `any` never gives a result in which every outcome is an error; this initialiser accepts one.
    public init(_ inputs: [(key: Key, result: Result<Value, any Error>)]) {
        self.inputs = inputs.map { input in
            let node =
                switch input.result {
                case .success(let value): Node.settled(value, placement: .context(.inline))
                case .failure(let error):
                    Node.failed(error, as: Value.self, placement: .context(.inline))
                }
            // The result handles its errors, so diagnostics do not report them.
            _ = node.control.insert(ControlBits.observed)
            return AnyInput(key: input.key, inputSlot: node, isItself: false)
        }
    }

    /// The number of inputs, with and without a value.
    @inlinable
    public var count: Int { inputs.count }

    /// The key of an input by its position, from 0 up to `count`; other positions trap.
    @inlinable
    public func key(at position: Int) -> Key { inputs[position].key }

    /// The outcome of an input by its position, from 0 up to `count`; other positions trap.
    @inlinable
    public func result(at position: Int) -> Result<Value, any Error> {
        let inputSlot = inputs[position].inputSlot
        return inputSlot.isFulfilled
            ? .success(inputSlot.value(as: Value.self)) : .failure(inputSlot.error)
    }

    /// Passes the value of an input to `body`, without copying it; nil, and `body` is not called, if
    /// the input has no value. Positions are from 0 up to `count`; others trap. What `body` throws is
    /// rethrown.
    @inlinable
    public func withValue<Return>(
        at position: Int, _ body: (Value) throws -> Return
    ) rethrows -> Return? {
        let inputSlot = inputs[position].inputSlot
        guard inputSlot.isFulfilled else { return nil }
        return try unsafe body(Node.valuePointer(of: Value.self, at: inputSlot.valueSlot).pointee)
    }

    /// Whether at least one input has a value.
    @inlinable
    var hasValue: Bool { inputs.contains(where: \.inputSlot.isFulfilled) }

    /// Whether every input has a value.
    @inlinable
    public var isComplete: Bool { inputs.allSatisfy(\.inputSlot.isFulfilled) }

    /// The outcome of a key, or nil if it is unknown. Linear search.
    @inlinable
    public func result(for key: Key) -> Result<Value, any Error>? {
        inputs.firstIndex { $0.key == key }.map { result(at: $0) }
    }

    /// The value of a key. Linear search.
    ///
    /// - Throws: the error of the input if it has no value; `PromiseError.unknownKey` for an
    ///   unknown key.
    @inlinable
    public func requiredValue(for key: Key) throws -> Value {
        guard let result = result(for: key) else { throw PromiseError.unknownKey }
        return try result.get()
    }

    /// The values of the fulfilled inputs by key. Makes the dictionary at every call.
    public var values: [Key: Value] {
        Dictionary(
            inputs.lazy.filter(\.inputSlot.isFulfilled).map {
                ($0.key, $0.inputSlot.value(as: Value.self))
            },
            uniquingKeysWith: { first, _ in first })
    }

    /// The errors of the rejected inputs by key. Makes the dictionary at every call.
    public var reasons: [Key: any Error] {
        Dictionary(
            inputs.lazy.filter(\.inputSlot.isRejected).map { ($0.key, $0.inputSlot.error) },
            uniquingKeysWith: { first, _ in first })
    }
}

extension AnyResult: Sendable where Value: Sendable {}

/// An input of `any`: its key and the node that holds its outcome. Not a tuple, which would be
/// destroyed through its metadata.
@usableFromInline
struct AnyInput<Key: Hashable & Sendable>: Sendable {
    @usableFromInline let key: Key
    @usableFromInline let inputSlot: Node
    /// Whether the input is its own input slot.
    @usableFromInline let isItself: Bool

    @inlinable
    init(key: Key, inputSlot: Node, isItself: Bool) {
        self.key = key
        self.inputSlot = inputSlot
        self.isItself = isItself
    }
}

/// The error of `any` when all inputs were rejected: their errors by key.
public struct ErrorDictionary<Key: Hashable & Sendable>: Error, CustomStringConvertible {
    /// The errors in the order of the inputs.
    public let members: [(key: Key, error: any Error)]

    /// The errors of rejected promises by their keys, in order.
    public init(_ members: [(key: Key, error: any Error)]) {
        self.members = members
    }

    /// The errors by key; the first one, if two inputs have the same key.
    public var errors: [Key: any Error] {
        Dictionary(members.map { ($0.key, $0.error) }, uniquingKeysWith: { first, _ in first })
    }

    /// The errors as text, each after its key.
    public var description: String {
        "[" + members.map { "\($0.key): \($0.error)" }.joined(separator: ", ") + "]"
    }
}

/// The error of `race` when all inputs were rejected: their errors in the order of the inputs.
public struct ErrorArray: Error, CustomStringConvertible {
    /// The errors, in the order of the inputs.
    public let errors: [any Error]

    /// The errors of rejected promises, in order.
    public init(_ errors: [any Error]) {
        self.errors = errors
    }

    /// The errors as text.
    public var description: String { "\(errors)" }
}
