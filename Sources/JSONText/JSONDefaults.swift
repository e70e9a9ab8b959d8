import Basics

/// Values for members that are missing or null, in one pass over a value.
package struct JSONDefaults: Sendable {
    private var root = DefaultNode()

    /// - Parameter defaults: paths of keys and `[]`, each with a key at its end; of equal paths the last one
    ///   counts
    package init(_ defaults: [(path: JSONPath, value: JSONSlice)]) {
        for (path, value) in defaults { root.add(value, at: path.steps[...]) }
    }

    /// The value with each missing member at the end of the object that its path leads to. Where the path
    /// leads to no object, nothing is added.
    package func applied(to value: JSONSlice) -> JSONSlice {
        var out: [UInt8] = []
        out.reserveCapacity(value.bytes.count)
        let text = Lookahead(value.bytes.span)
        root.write(0..<value.bytes.count, of: text, to: &out)
        return JSONSlice(known: Bytes(out))
    }
}

/// What paths say about one value. The recursions are as deep as the paths of the configuration.
private struct DefaultNode: Sendable {
    private var members: [Member] = []
    /// At most one.
    private var everyElement: [DefaultNode] = []
    private var value: JSONSlice?

    private struct Member: Sendable {
        let key: KeyPattern
        var node = DefaultNode()
    }

    mutating func add(_ value: JSONSlice, at path: ArraySlice<JSONPath.Step>) {
        switch path.first {
        case nil: self.value = value
        case .key(let key):
            let index = members.firstIndex { $0.key.key == key } ?? members.count
            if index == members.count { members.append(Member(key: KeyPattern(key))) }
            members[index].node.add(value, at: path.dropFirst())
        case .everyElement:
            if everyElement.isEmpty { everyElement.append(DefaultNode()) }
            everyElement[0].add(value, at: path.dropFirst())
        case .element: assertionFailure("a path of a default has no index")
        }
    }

    func write(_ range: Range<Int>, of text: Lookahead, to out: inout [UInt8]) {
        switch text.byte(range.lowerBound) {
        case .openBrace where !members.isEmpty: writeObject(range, of: text, to: &out)
        case .openBracket where !everyElement.isEmpty:
            var copied = range.lowerBound
            var cursor = JSONCursor(text, at: range.lowerBound + 1)
            while let element = cursor.nextElement() {
                out.append(copying: text.span(copied..<element.lowerBound))
                everyElement[0].write(element, of: text, to: &out)
                copied = element.upperBound
            }
            out.append(copying: text.span(copied..<range.upperBound))
        default: out.append(copying: text.span(range))
        }
    }

    private func writeObject(_ range: Range<Int>, of text: Lookahead, to out: inout [UInt8]) {
        var missing = members.filter { $0.node.value != nil }
        var copied = range.lowerBound
        var end = copied + 1
        var cursor = JSONCursor(text, at: end)
        while let member = cursor.nextMember() {
            end = member.value.upperBound
            guard let rule = members.first(where: { $0.key.matches(member.key, in: text) }) else {
                continue
            }
            missing.removeAll { $0.key.key == rule.key.key }
            out.append(copying: text.span(copied..<member.value.lowerBound))
            if let value = rule.node.value, text.byte(member.value.lowerBound) == UInt8(ascii: "n")
            {
                out.append(value.bytes)
            } else {
                rule.node.write(member.value, of: text, to: &out)
            }
            copied = member.value.upperBound
        }
        guard !missing.isEmpty else {
            return out.append(copying: text.span(copied..<range.upperBound))
        }
        out.append(copying: text.span(copied..<end))
        for member in missing {
            out.append(jsonKey: String(member.key.key))
            if let value = member.node.value { out.append(value.bytes) }
        }
        out.append(.closeBrace)
    }
}
