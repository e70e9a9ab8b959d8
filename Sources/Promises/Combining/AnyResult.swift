/// What `any` brought: for every key a value or the reason why there is none, in the order of the
/// members, with at least one value.
///
/// It reads settled promises: no dictionary is made before `values` or `reasons` is read.
/// If two members have the same key, the first counts.
public struct AnyResult<Key: Hashable & Sendable, Value> {
    @usableFromInline let members: [AnyMember<Key>]

    @inlinable
    init(_ members: [AnyMember<Key>]) {
        self.members = members
    }

    /// A result of known outcomes, in order: for tests, and for code that combines promises itself.
    ///
    /// `any` never gives one in which every outcome is an error; this initialiser takes it.
    public init(_ members: [(key: Key, result: Result<Value, any Error>)]) {
        self.members = members.map { member in
            let node =
                switch member.result {
                case .success(let value): Node.settled(value, placement: .context(.inline))
                case .failure(let error):
                    Node.failed(error, as: Value.self, placement: .context(.inline))
                }
            // The result answers for its errors, so diagnostics do not report them.
            _ = node.claim.insert(Claim.observed)
            return AnyMember(key: member.key, inputSlot: node, isItself: false)
        }
    }

    /// How many members there were, with and without a value.
    @inlinable
    public var count: Int { members.count }

    /// The key of a member by its position, from 0 up to `count`; other positions trap.
    @inlinable
    public func key(at position: Int) -> Key { members[position].key }

    /// The outcome of a member by its position, from 0 up to `count`; other positions trap.
    @inlinable
    public func result(at position: Int) -> Result<Value, any Error> {
        let inputSlot = members[position].inputSlot
        return inputSlot.isFulfilled
            ? .success(inputSlot.value(as: Value.self)) : .failure(inputSlot.error)
    }

    /// Whether every member brought a value.
    @inlinable
    public var isComplete: Bool { members.allSatisfy(\.inputSlot.isFulfilled) }

    /// The outcome of a key, or nil if it is unknown. Linear search.
    @inlinable
    public func result(for key: Key) -> Result<Value, any Error>? {
        members.firstIndex { $0.key == key }.map { result(at: $0) }
    }

    /// The value of a key. Linear search.
    ///
    /// - Throws: the member's own reason if it has no value; `PromiseError.unknownKey`.
    @inlinable
    public func requiredValue(for key: Key) throws -> Value {
        guard let result = result(for: key) else { throw PromiseError.unknownKey }
        return try result.get()
    }

    /// The values of the fulfilled members by key. Makes the dictionary at every call.
    public var values: [Key: Value] {
        Dictionary(
            members.lazy.filter(\.inputSlot.isFulfilled).map {
                ($0.key, $0.inputSlot.value(as: Value.self))
            },
            uniquingKeysWith: { first, _ in first })
    }

    /// The errors of the rejected members by key. Makes the dictionary at every call.
    public var reasons: [Key: any Error] {
        Dictionary(
            members.lazy.filter(\.inputSlot.isRejected).map { ($0.key, $0.inputSlot.error) },
            uniquingKeysWith: { first, _ in first })
    }
}

extension AnyResult: Sendable where Value: Sendable {}

/// A member of `any`: its key, and where its outcome is kept. Not a tuple, which would be destroyed
/// through its metadata.
@usableFromInline
struct AnyMember<Key: Hashable & Sendable>: Sendable {
    @usableFromInline let key: Key
    @usableFromInline let inputSlot: Node
    /// Whether the input slot is the member itself.
    @usableFromInline let isItself: Bool

    @inlinable
    init(key: Key, inputSlot: Node, isItself: Bool) {
        self.key = key
        self.inputSlot = inputSlot
        self.isItself = isItself
    }
}

/// All members were rejected: the reasons by key.
public struct ErrorDictionary<Key: Hashable & Sendable>: Error, CustomStringConvertible {
    /// The reasons in the order of the members.
    public let members: [(key: Key, error: any Error)]

    /// The errors of rejected promises by their keys, in order.
    public init(_ members: [(key: Key, error: any Error)]) {
        self.members = members
    }

    /// The errors by key; the first one, if two members have the same key.
    public var errors: [Key: any Error] {
        Dictionary(members.map { ($0.key, $0.error) }, uniquingKeysWith: { first, _ in first })
    }

    /// The reasons as text, each behind its key.
    public var description: String {
        "[" + members.map { "\($0.key): \($0.error)" }.joined(separator: ", ") + "]"
    }
}

/// All members were rejected: the reasons in the order of the members.
public struct ErrorArray: Error, CustomStringConvertible {
    /// The reasons, in the order of the members.
    public let errors: [any Error]

    /// The errors of rejected promises, in order.
    public init(_ errors: [any Error]) {
        self.errors = errors
    }

    /// The reasons as text.
    public var description: String { "\(errors)" }
}
