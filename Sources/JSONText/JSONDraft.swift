import Basics

/// An object that gets members under paths. What no path leads through keeps its bytes.
///
/// An object is searched when the first path leads into it, and only once.
package struct JSONDraft: ~Copyable {
    private let root: Node

    /// Whether a value has its place.
    package enum Outcome: Equatable {
        case added
        /// The key is taken.
        case exists
        /// A value on the path is neither an object nor null, or what elements are appended to is no array.
        case invalidShape
    }

    package init(_ object: JSONSlice) {
        assert(object.kind == .object, "a draft is an object")
        root = Node(object)
    }

    /// The finished object.
    package consuming func finish() -> JSONSlice {
        var bytes: [UInt8] = []
        root.write(to: &bytes)
        return JSONSlice(known: Bytes(bytes))
    }

    /// Adds a member at the end of the object that the other keys lead to. Objects on the way that do not
    /// exist or are null are made.
    ///
    /// - Parameter path: at least one key
    package mutating func add(_ value: JSONSlice, at path: [JSONName]) -> Outcome {
        guard let object = object(at: path.dropLast()), let key = path.last else {
            return .invalidShape
        }
        guard let former = object.member(key) else {
            object.append(key, Node(value))
            return .added
        }
        guard former.isPlaceholder else { return .exists }
        former.replace(with: value)
        return .added
    }

    /// Adds a member that is `null` unless there is one already, or one is added later.
    package mutating func addPlaceholder(at path: [JSONName]) {
        guard let object = object(at: path.dropLast()), let key = path.last,
            object.member(key) == nil
        else { return }
        object.append(key, Node(.null, isPlaceholder: true))
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
        guard let former = object.member(key) else {
            object.append(key, Node(elements))
            return .added
        }
        return former.append(elements) ? .added : .invalidShape
    }

    /// The object that keys lead to, which is made where it is missing or null; nil if another value is in
    /// its place.
    private func object(at path: ArraySlice<JSONName>) -> Node? {
        var object = root
        for key in path {
            let member = object.member(key) ?? object.append(key, Node(.null))
            guard member.becomeObject() else { return nil }
            object = member
        }
        return object
    }
}

/// A value that paths lead to, and what they have added to it.
private final class Node {
    private var source: JSONSlice
    /// It is the `null` of a failed call.
    private(set) var isPlaceholder: Bool
    /// The members of the source, of equal keys the last one; nil before a path leads into it.
    private var members: [[UInt8]: Range<Int>]?
    /// The members of the source that a path leads into.
    private var inner: [(range: Range<Int>, node: Node)] = []
    private var appended: [(key: JSONName, node: Node)] = []
    /// Arrays whose elements follow the elements of the source.
    private var arrays: [JSONSlice] = []

    init(_ source: JSONSlice, isPlaceholder: Bool = false) {
        self.source = source
        self.isPlaceholder = isPlaceholder
    }

    func replace(with value: JSONSlice) {
        source = value
        isPlaceholder = false
    }

    /// False if it is neither an object nor null.
    func becomeObject() -> Bool {
        if source.isNull { replace(with: .emptyObject) }
        return source.kind == .object
    }

    /// False if it is neither an array nor null.
    func append(_ elements: JSONSlice) -> Bool {
        if source.isNull {
            replace(with: elements)
        } else {
            guard source.kind == .array else { return false }
            arrays.append(elements)
        }
        return true
    }

    // MARK: Members of an object

    func member(_ key: JSONName) -> Node? {
        if let node = appended.first(where: { $0.key.plain == key.plain })?.node { return node }
        guard let range = indexedMembers[key.plain.array] else { return nil }
        if let node = inner.first(where: { $0.range == range })?.node { return node }
        let node = Node(JSONSlice(known: source.bytes[range]))
        inner.append((range, node))
        return node
    }

    @discardableResult
    func append(_ key: JSONName, _ node: Node) -> Node {
        appended.append((key, node))
        return node
    }

    private var indexedMembers: [[UInt8]: Range<Int>] {
        if let members { return members }
        let bytes = source.bytes
        let text = bytes.span
        var found: [[UInt8]: Range<Int>] = [:]
        var cursor = JSONCursor(Lookahead(text), at: 1)
        while let member = cursor.nextMember() {
            found[text.extracting(member.key.inside).unescaped] = member.value
        }
        members = found
        return found
    }

    // MARK: Text

    /// The recursion is as deep as the paths that lead here.
    func write(to out: inout [UInt8]) {
        let bytes = source.bytes
        let text = bytes.span
        guard !inner.isEmpty || !appended.isEmpty || !arrays.isEmpty else {
            return out.append(copying: text)
        }
        var copied = 0
        for member in inner.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
            out.append(copying: text.extracting(copied..<member.range.lowerBound))
            member.node.write(to: &out)
            copied = member.range.upperBound
        }
        // In front of the white space at the end.
        let inside = text.insideOfContainer
        let end = inside?.upperBound ?? 1
        out.append(copying: text.extracting(copied..<end))
        var isFirst = inside == nil
        for (key, node) in appended {
            if !isFirst { out.append(.comma) }
            isFirst = false
            out.append(key.written)
            node.write(to: &out)
        }
        for elements in arrays {
            guard let range = elements.bytes.span.insideOfContainer else { continue }
            if !isFirst { out.append(.comma) }
            isFirst = false
            out.append(copying: elements.bytes.span.extracting(range))
        }
        out.append(copying: text.extracting(end..<text.count))
    }
}
