/// Reads field lines up to the empty line that ends them (RFC 9112 5): strictly, in one pass, and
/// resumed at the incomplete line, so that slowly arriving bytes cost no more than their sum.
struct FieldSection {
    /// The fields so far that concern framing and connection.
    private(set) var control = ControlFields()
    private var count = 0

    private let begin: Int
    /// The offset of the incomplete line.
    private var line: Int
    /// That line has no LF before this offset.
    private var searched: Int

    /// The section begins at `start`.
    init(at start: Int) {
        begin = start
        line = start
        searched = start
    }

    /// The offset behind the empty line; nil until it has arrived. Each call gets the bytes from
    /// the same beginning, with more at the end.
    mutating func read(_ bytes: Span<UInt8>, _ limits: Limits) throws(WireError) -> Int? {
        if searched > line, bytes.firstLineFeed(from: searched) == nil {
            return try suspend(bytes, limits)
        }
        while line < bytes.count {
            if bytes[line] == ASCII.carriageReturn {
                guard line &+ 1 < bytes.count else { break }
                guard bytes[line &+ 1] == ASCII.lineFeed else { throw .lineEnd }
                guard line &+ 2 &- begin <= limits.headerBytes else { throw .fieldsTooLarge }
                return line &+ 2
            }
            guard let end = try readLine(bytes) else { break }
            guard count < limits.headerCount else { throw .tooManyFields }
            count &+= 1
            line = end
        }
        return try suspend(bytes, limits)
    }

    private mutating func suspend(_ bytes: Span<UInt8>, _ limits: Limits) throws(WireError) -> Int?
    {
        guard bytes.count - begin <= limits.headerBytes else { throw .fieldsTooLarge }
        searched = bytes.count
        return nil
    }

    /// Reads the field line that begins at `line`; returns the offset behind it, or nil if its end
    /// has not arrived.
    @inline(__always)
    private mutating func readLine(_ bytes: Span<UInt8>) throws(WireError) -> Int? {
        var nameEnd = bytes.skipCommonBytes(from: line)
        guard nameEnd < bytes.count else { return nil }
        if bytes[nameEnd] != ASCII.colon || nameEnd == line {
            nameEnd = try Self.endOfUnusualName(bytes, line, from: nameEnd)
            guard nameEnd < bytes.count else { return nil }
        }

        let end = bytes.firstControl(from: nameEnd &+ 1)
        guard end < bytes.count else { return nil }
        guard bytes[end] == ASCII.carriageReturn else {
            throw bytes[end] == ASCII.lineFeed ? .lineEnd : .fieldValue
        }
        guard end &+ 1 < bytes.count else { return nil }
        guard bytes[end &+ 1] == ASCII.lineFeed else { throw .lineEnd }

        // Only fields that the parser uses, and very long ones, need the exact range of the value.
        if ControlFields.mayInclude(nameOf: nameEnd &- line, first: bytes[line])
            || end &- line > Limits.fieldBytesMax
        {
            try readField(bytes, nameEnd: nameEnd, end: end)
        }
        return end &+ 2
    }

    /// - Parameter end: of the value, with the white space around it
    @inline(never)
    private mutating func readField(
        _ bytes: Span<UInt8>, nameEnd: Int, end: Int
    ) throws(WireError) {
        var (value, valueEnd) = (nameEnd &+ 1, end)
        while value < valueEnd, ASCII.isWhiteSpace(bytes[value]) { value &+= 1 }
        while valueEnd > value, ASCII.isWhiteSpace(bytes[valueEnd &- 1]) { valueEnd &-= 1 }
        guard max(nameEnd &- line, valueEnd &- value) <= Limits.fieldBytesMax else {
            throw .fieldsTooLarge
        }
        try control.read(bytes, line..<nameEnd, value..<valueEnd)
    }

    /// The offset of the colon behind a name with other bytes than letters, digits, `-` and `.`; the
    /// number of bytes if it has not arrived.
    @inline(never)
    private static func endOfUnusualName(
        _ bytes: Span<UInt8>, _ line: Int, from start: Int
    ) throws(WireError) -> Int {
        let end = bytes.first(notIn: .token, from: start)
        guard end == bytes.count || bytes[end] == ASCII.colon && end > line else {
            throw lineError(bytes, at: end, in: line)
        }
        return end
    }

    /// The error in a line whose name does not end with a colon.
    private static func lineError(_ bytes: Span<UInt8>, at index: Int, in line: Int) -> WireError {
        switch bytes[index] {
        case ASCII.lineFeed: .lineEnd
        case ASCII.space where index == line, ASCII.tab where index == line: .foldedField
        default: .fieldName
        }
    }
}
