package import Basics

/// The header fields of a message, in order, repeated ones kept apart: a single run of bytes that
/// contains the lines in wire format.
///
/// A parsed head therefore costs one allocation whatever its number of fields, writing all fields
/// is one copy, and a constant list is shared until it is changed. A look-up walks the lines sixteen
/// bytes at a time, which is as fast as a table for usual heads, and most heads are never searched.
/// All fields are checked when they are added: every name is a token, and no value can split a
/// head.
package struct Fields: Sendable {
    /// The lines, each ended by CRLF, from `linesStart` on. A parsed head also has its first line
    /// before them, which the target shares.
    private(set) var text: [UInt8]
    private(set) var linesStart: Int

    /// False if no line can be one of those that the writer of a head drops; see
    /// `FieldName.isOfConnection`.
    private(set) var mayHoldConnectionFields: Bool

    /// None; allocates nothing.
    package init() {
        text = []
        linesStart = 0
        mayHoldConnectionFields = false
    }

    /// An empty list with capacity for `bytes` bytes.
    package init(reserving bytes: Int) {
        self.init()
        text.reserveCapacity(bytes)
    }

    /// The fields of a parsed head: lines that their parser has checked, each ended by CRLF.
    package init(text: [UInt8], linesStart: Int) {
        self.text = text
        self.linesStart = linesStart
        mayHoldConnectionFields = true
    }

    /// The trailer fields of a message: the lines that a reader delivered with
    /// `ReadEvent.trailers`, which it has checked.
    package init(trailerLines: [UInt8]) {
        self.init(text: trailerLines, linesStart: 0)
    }

    /// The number of lines.
    package var count: Int {
        var count = 0
        var lines = FieldLines(from: linesStart)
        while lines.nextLine(in: text.span) != nil { count += 1 }
        return count
    }

    package var isEmpty: Bool { linesStart == text.count }

    /// The lines in wire format, without the empty line that ends a head.
    package var wireText: Span<UInt8> {
        @_lifetime(borrow self)
        get { text.span.extracting(linesStart...) }
    }

    /// Their size in memory, including the first line of a parsed head.
    package var memoryBytes: Int { text.count }

    /// The value of the first field of that name.
    package subscript(name: FieldName) -> FieldValue? {
        var lines = FieldLines(from: linesStart)
        guard let line = lines.nextLine(named: name.span, in: text.span) else { return nil }
        return FieldValue(checked: Bytes(text)[line.value])
    }

    /// The value of the only field of that name; nil if there is none, or more than one.
    package func single(_ name: FieldName) -> FieldValue? {
        var lines = FieldLines(from: linesStart)
        guard let line = lines.nextLine(named: name.span, in: text.span),
            lines.nextLine(named: name.span, in: text.span) == nil
        else { return nil }
        return FieldValue(checked: Bytes(text)[line.value])
    }

    /// The values of all fields of that name, in order.
    package func all(_ name: FieldName) -> [FieldValue] {
        var values: [FieldValue] = []
        var lines = FieldLines(from: linesStart)
        while let line = lines.nextLine(named: name.span, in: text.span) {
            values.append(FieldValue(checked: Bytes(text)[line.value]))
        }
        return values
    }

    /// Whether there is a field of that name.
    package func contains(_ name: FieldName) -> Bool {
        var lines = FieldLines(from: linesStart)
        return lines.nextLine(named: name.span, in: text.span) != nil
    }

    /// Adds a line at the end.
    package mutating func append(_ name: FieldName, _ value: FieldValue) {
        append(name: name.span, value: value.bytes.span)
    }

    /// Appends the lines of another list.
    package mutating func append(_ others: Fields) {
        if isEmpty {
            self = others
        } else {
            text.append(copying: others.wireText)
            if others.mayHoldConnectionFields { mayHoldConnectionFields = true }
        }
    }

    /// Replaces all lines of that name by one.
    package mutating func set(_ name: FieldName, _ value: FieldValue) {
        removeAll(name)
        append(name, value)
    }

    /// Removes all lines of that name.
    package mutating func removeAll(_ name: FieldName) {
        guard contains(name) else { return }
        var rest = Fields(reserving: text.count)
        rest.mayHoldConnectionFields = mayHoldConnectionFields
        var lines = FieldLines(from: linesStart)
        while let line = lines.nextLine(in: text.span) {
            guard !text.span.extracting(line.name).equalsIgnoringCase(name.span) else { continue }
            rest.text.append(copying: text.span.extracting(line.all))
        }
        self = rest
    }

    /// Adds a line at the end, with the trimmed text as its value; does nothing if the text contains
    /// a control byte, which no value may.
    package mutating func append(_ name: FieldName, text: Span<UInt8>) {
        guard text.firstControl(from: 0) == text.count else { return }
        append(name: name.span, value: text.trimmed)
    }

    /// Adds lines of another list, with their line ends, which are not of the connection.
    mutating func appendLines(_ lines: Span<UInt8>) {
        text.append(copying: lines)
    }

    /// Adds a line whose parts are checked.
    private mutating func append(name: Span<UInt8>, value: Span<UInt8>) {
        if FieldName.isOfConnection(name) { mayHoldConnectionFields = true }
        text.append(addingCapacity: name.count + value.count + 4) { tail in
            tail.append(copying: name)
            tail.append(UInt8(ascii: ":"))
            tail.append(UInt8(ascii: " "))
            tail.append(copying: value)
            tail.append(UInt8(ascii: "\r"))
            tail.append(UInt8(ascii: "\n"))
        }
    }

    /// Which names these fields may have.
    package var nameFilter: FieldNameFilter {
        var filter = FieldNameFilter()
        var lines = FieldLines(from: linesStart)
        while let line = lines.nextLine(in: text.span) {
            filter.insert(text.span.extracting(line.name))
        }
        return filter
    }
}

extension Fields: Equatable {
    /// The same lines in the same order, byte for byte.
    package static func == (left: Fields, right: Fields) -> Bool {
        left.text[left.linesStart...] == right.text[right.linesStart...]
    }
}

extension Fields: Sequence {
    /// The fields in order; names and values share the memory of the list.
    package func makeIterator() -> AnyIterator<(name: Bytes, value: Bytes)> {
        var lines = FieldLines(from: linesStart)
        let text = Bytes(text)
        return AnyIterator { lines.nextLine(in: text.span).map { (text[$0.name], text[$0.value]) } }
    }
}

extension Fields: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral fields: (FieldName, FieldValue)...) {
        self.init()
        for (name, value) in fields { append(name, value) }
    }
}
