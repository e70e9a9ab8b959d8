import Basics

/// An object that gets members under paths, as text: whatever a path does not lead through keeps its
/// bytes.
///
/// Each change copies what is behind it, and reads what is before it. It cannot be copied: a second
/// reference to its bytes would make `finish` copy all of them.
package struct JSONDraft: ~Copyable {
    private var bytes: [UInt8]
    /// The paths of members that are the `null` of a failed call.
    private var placeholders: [[JSONName]] = []

    /// Whether a value has its place.
    package enum Outcome: Equatable {
        case added
        /// The key is taken.
        case exists
        /// A value on the path is neither an object nor null, or what elements are appended to is no array.
        case invalidShape
    }

    package init(_ object: consuming JSONSlice) {
        assert(object.kind == .object, "a draft is an object")
        bytes = object.bytes.array
    }

    /// The finished object.
    package consuming func finish() -> JSONSlice { JSONSlice(known: Bytes(bytes)) }

    /// Adds a member at the end of the object that the other keys lead to. Objects on the way that do not
    /// exist or are null are made.
    ///
    /// - Parameter path: at least one key
    package mutating func add(_ value: JSONSlice, at path: [JSONName]) -> Outcome {
        guard let object = object(at: path.dropLast()), let key = path.last else {
            return .invalidShape
        }
        guard let former = member(key, of: object) else {
            insert(key, value, at: object)
            return .added
        }
        guard let index = placeholders.firstIndex(where: { $0.map(\.plain) == path.map(\.plain) })
        else { return .exists }
        placeholders.remove(at: index)
        bytes.replaceSubrange(former, with: value.bytes.array)
        return .added
    }

    /// Adds a member that is `null` unless there is one already, or one is added later.
    package mutating func addPlaceholder(at path: [JSONName]) {
        if add(.null, at: path) == .added { placeholders.append(path) }
    }

    /// Adds elements at the end of an array, which is made if it does not exist or is null.
    ///
    /// - Parameters:
    ///   - array: the elements; null for none
    ///   - path: at least one key
    package mutating func append(_ array: JSONSlice, to path: [JSONName]) -> Outcome {
        let elements: JSONSlice = array.isNull ? .emptyArray : array
        guard elements.kind == .array, let object = object(at: path.dropLast()), let key = path.last
        else { return .invalidShape }
        guard let former = member(key, of: object) else {
            insert(key, elements, at: object)
            return .added
        }
        if isNull(former) {
            bytes.replaceSubrange(former, with: elements.bytes.array)
            return .added
        }
        guard bytes[former.lowerBound] == .openBracket else { return .invalidShape }
        guard let inside = elements.bytes.span.insideOfContainer else { return .added }
        insert(elements.bytes[inside].array, at: former)
        return .added
    }

    // MARK: Text

    /// The range of the object that keys lead to, which is made where it is missing or null; nil if another
    /// value is in its place.
    private mutating func object(at path: ArraySlice<JSONName>) -> Range<Int>? {
        var object = 0..<bytes.count
        for key in path {
            if let member = member(key, of: object) {
                if isNull(member) {
                    bytes.replaceSubrange(member, with: [.openBrace, .closeBrace])
                    object = member.lowerBound..<(member.lowerBound + 2)
                } else {
                    object = member
                }
            } else {
                let end = insert(key, .emptyObject, at: object)
                object = (end - 2)..<end
            }
            guard bytes[object.lowerBound] == .openBrace else { return nil }
        }
        return object
    }

    private func member(_ key: JSONName, of object: Range<Int>) -> Range<Int>? {
        Lookahead(bytes.span).range(of: [.key(key.plain)], in: object)
    }

    private func isNull(_ value: Range<Int>) -> Bool {
        bytes[value.lowerBound] == UInt8(ascii: "n")
    }

    /// Inserts a member at the end of an object; gives the end of its value.
    @discardableResult
    private mutating func insert(_ key: JSONName, _ value: JSONSlice, at object: Range<Int>) -> Int
    {
        insert(key.written.array + value.bytes.array, at: object)
    }

    /// Inserts text before the end of an object or an array; gives the end of the text.
    @discardableResult
    private mutating func insert(_ text: [UInt8], at container: Range<Int>) -> Int {
        let inside = bytes.span.extracting(container).insideOfContainer
        let end = container.lowerBound + (inside?.upperBound ?? 1)
        let inserted = (inside == nil ? [] : [.comma]) + text
        bytes.insert(contentsOf: inserted, at: end)
        return end + inserted.count
    }
}
