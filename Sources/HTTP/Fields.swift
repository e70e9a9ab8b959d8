package import Basics

/// The header fields of a message, in order, repeated ones kept apart: one run of bytes that holds
/// the lines as they stand on the wire, and nothing else.
///
/// A parsed head therefore costs one allocation however many fields it has, writing all of them is
/// one copy, and a constant list is shared until somebody changes it. A look-up walks the lines eight
/// bytes at a time, which for the heads that exist is as fast as a table would be, and most heads are
/// never asked. What is in here was checked on its way in: every name is a token, no value can split
/// a head.
package struct Fields: Sendable {
    /// The lines, each ended by CRLF, from `linesStart` on. A parsed head keeps its first line too,
    /// before them, for the target to share.
    private(set) var text: [UInt8]
    private(set) var linesStart: Int

    /// False where no line can be of the kind that the writer of a head keeps to itself; see
    /// `FieldName.isOfConnection`.
    private(set) var mayHoldConnectionFields: Bool

    /// None; allocates nothing.
    package init() {
        text = []
        linesStart = 0
        mayHoldConnectionFields = false
    }

    /// With room for fields of together `bytes` bytes.
    package init(reserving bytes: Int) {
        self.init()
        text.reserveCapacity(bytes)
    }

    /// The fields of a parsed head.
    init(text: [UInt8], linesStart: Int) {
        self.text = text
        self.linesStart = linesStart
        mayHoldConnectionFields = true
    }

    /// The trailer fields of a message: all the lines that a reader delivered with
    /// `ReadEvent.trailers`, which has checked them.
    package init(trailerLines: [UInt8]) {
        self.init(text: trailerLines, linesStart: 0)
    }

    /// How many lines there are.
    package var count: Int {
        var count = 0
        var lines = FieldLines(from: linesStart)
        while lines.nextLine(in: text.span) != nil { count += 1 }
        return count
    }

    package var isEmpty: Bool { linesStart == text.count }

    /// The lines as they stand on the wire, without the empty line that ends a head.
    package var wireText: Span<UInt8> {
        @_lifetime(borrow self)
        get { text.span.extracting(linesStart...) }
    }

    /// What they take in memory, a parsed head's first line included.
    package var memoryBytes: Int { text.count }

    /// The value of the first field of that name.
    package subscript(name: FieldName) -> FieldValue? {
        var lines = FieldLines(from: linesStart)
        guard let line = lines.nextLine(named: name.span, in: text.span) else { return nil }
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

    /// Adds the lines of others at the end.
    package mutating func append(_ others: Fields) {
        if isEmpty {
            self = others
        } else {
            text.append(copying: others.wireText)
            if others.mayHoldConnectionFields { mayHoldConnectionFields = true }
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
        var rest = Fields(reserving: text.count)
        rest.mayHoldConnectionFields = mayHoldConnectionFields
        var lines = FieldLines(from: linesStart)
        while let line = lines.nextLine(in: text.span) {
            guard !text.span.extracting(line.name).equalsIgnoringCase(name.span) else { continue }
            rest.text.append(copying: text.span.extracting(line.all))
        }
        self = rest
    }

    /// Adds a line whose parts are known to be sane.
    private mutating func append(name: Span<UInt8>, value: Span<UInt8>) {
        if FieldName.isOfConnection(name) { mayHoldConnectionFields = true }
        text.append(copying: name)
        text.append(literal: ": ")
        text.append(copying: value)
        text.append(literal: "\r\n")
    }
}

extension Fields: Sequence {
    /// The fields in order; name and value share the memory of the list.
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
