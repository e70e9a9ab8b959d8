package import Basics

/// The header fields of a message, in order, repeated ones kept apart: one run of bytes that holds
/// the lines as they stand on the wire, and one small array that says where names and values are.
///
/// A parsed head therefore costs two allocations however many fields it has, writing all of them is
/// one copy, and a constant list is shared until somebody changes it. What is in here was checked on
/// its way in: every name is a token, no value can split a head.
package struct Fields: Sendable {
    /// Where a field stands in the text.
    struct Entry: Sendable {
        /// The offset of the name, which begins the line.
        var name: UInt32
        var nameEnd: UInt32
        var value: UInt32
        var valueEnd: UInt32
    }

    /// The lines, each ended by CRLF, from `linesStart` on. A parsed head keeps its first line too,
    /// before them, for the target to share.
    private(set) var text: [UInt8]
    private(set) var linesStart: Int
    private(set) var entries: [Entry]

    /// None; allocates nothing.
    package init() {
        text = []
        linesStart = 0
        entries = []
    }

    /// With room for `count` fields of together `bytes` bytes.
    package init(reservingCount count: Int, bytes: Int) {
        self.init()
        entries.reserveCapacity(count)
        text.reserveCapacity(bytes)
    }

    /// The fields of a parsed head.
    init(text: [UInt8], linesStart: Int, entries: [Entry]) {
        self.text = text
        self.linesStart = linesStart
        self.entries = entries
    }

    /// How many lines there are.
    package var count: Int { entries.count }

    package var isEmpty: Bool { entries.isEmpty }

    /// The lines as they stand on the wire, without the empty line that ends a head.
    package var wireText: Span<UInt8> {
        @_lifetime(borrow self)
        get { text.span.extracting(linesStart...) }
    }

    /// The value of the first field of that name.
    package subscript(name: FieldName) -> FieldValue? {
        guard let index = firstIndex(of: name, from: 0) else { return nil }
        return FieldValue(checked: value(at: index))
    }

    /// The values of all fields of that name, in order.
    package func all(_ name: FieldName) -> [FieldValue] {
        var values: [FieldValue] = []
        var next = firstIndex(of: name, from: 0)
        while let index = next {
            values.append(FieldValue(checked: value(at: index)))
            next = firstIndex(of: name, from: index + 1)
        }
        return values
    }

    /// Whether there is a field of that name.
    package func contains(_ name: FieldName) -> Bool {
        firstIndex(of: name, from: 0) != nil
    }

    /// Adds a line at the end.
    package mutating func append(_ name: FieldName, _ value: FieldValue) {
        append(name: name.span, value: value.bytes.span)
    }

    /// Adds the lines of others at the end.
    package mutating func append(_ others: Fields) {
        if isEmpty {
            self = others
            return
        }
        for index in others.entries.indices {
            append(name: others.name(at: index), value: others.valueSpan(at: index))
        }
    }

    /// Puts one line in the place of all of that name.
    package mutating func set(_ name: FieldName, _ value: FieldValue) {
        removeAll(name)
        append(name, value)
    }

    /// Removes all lines of that name.
    package mutating func removeAll(_ name: FieldName) {
        guard contains(name) else { return }
        var rest = Fields(reservingCount: count, bytes: text.count)
        for index in entries.indices where !self.name(at: index).equalsIgnoringCase(name.span) {
            rest.append(name: self.name(at: index), value: valueSpan(at: index))
        }
        self = rest
    }
}

extension Fields {
    @_lifetime(borrow self)
    func name(at index: Int) -> Span<UInt8> {
        let entry = entries[index]
        return text.span.extracting(Int(entry.name)..<Int(entry.nameEnd))
    }

    @_lifetime(borrow self)
    func valueSpan(at index: Int) -> Span<UInt8> {
        let entry = entries[index]
        return text.span.extracting(Int(entry.value)..<Int(entry.valueEnd))
    }

    func value(at index: Int) -> Bytes {
        let entry = entries[index]
        return Bytes(text)[Int(entry.value)..<Int(entry.valueEnd)]
    }

    func firstIndex(of name: FieldName, from start: Int) -> Int? {
        let wanted = name.span
        var index = start
        while index < entries.count {
            let entry = entries[index]
            if Int(entry.nameEnd &- entry.name) == wanted.count,
                self.name(at: index).equalsIgnoringCase(wanted)
            {
                return index
            }
            index += 1
        }
        return nil
    }

    /// Adds a line whose parts are known to be sane.
    private mutating func append(name: Span<UInt8>, value: Span<UInt8>) {
        let start = text.count
        text.append(copying: name)
        text.append(literal: ": ")
        let valueStart = text.count
        text.append(copying: value)
        let valueEnd = text.count
        text.append(literal: "\r\n")
        entries.append(
            Entry(
                name: UInt32(start), nameEnd: UInt32(start + name.count), value: UInt32(valueStart),
                valueEnd: UInt32(valueEnd)))
    }
}

extension Fields: Sequence {
    /// The fields in order; name and value share the memory of the list.
    package func makeIterator() -> AnyIterator<(name: Bytes, value: Bytes)> {
        var index = 0
        let text = Bytes(text)
        return AnyIterator {
            guard index < entries.count else { return nil }
            let entry = entries[index]
            index += 1
            return (
                text[Int(entry.name)..<Int(entry.nameEnd)],
                text[Int(entry.value)..<Int(entry.valueEnd)]
            )
        }
    }
}

extension Fields: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral fields: (FieldName, FieldValue)...) {
        self.init()
        for (name, value) in fields { append(name, value) }
    }
}
