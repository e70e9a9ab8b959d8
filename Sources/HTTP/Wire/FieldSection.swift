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
    ///
    /// - Parameters:
    ///   - bytesMax: see `Limits.headerBytes`
    ///   - countMax: see `Limits.headerCount`
    mutating func read(
        _ bytes: Span<UInt8>, bytesMax: Int, countMax: Int
    ) throws(WireError) -> Int? {
        if searched > line, bytes.firstLineFeed(from: searched) == nil {
            return try suspend(bytes, bytesMax)
        }
        while line < bytes.count {
            if bytes[line] == ASCII.carriageReturn {
                guard line &+ 1 < bytes.count else { break }
                guard bytes[line &+ 1] == ASCII.lineFeed else { throw .lineEnd }
                guard line &+ 2 &- begin <= bytesMax else { throw .fieldsTooLarge }
                return line &+ 2
            }
            var found = bytes.usualFieldLine(from: line)
            if found == nil { found = try readLine(bytes) }
            guard let (nameEnd, end) = found else { break }
            // Only fields that the parser uses, and very long ones, need the exact range of the value.
            if ControlFields.mayInclude(nameOf: nameEnd &- line, first: bytes[line])
                || end &- line > Limits.fieldBytesMax
            {
                try readField(bytes, nameEnd: nameEnd, end: end)
            }
            guard count < countMax else { throw .tooManyFields }
            count &+= 1
            line = end &+ 2
        }
        return try suspend(bytes, bytesMax)
    }

    private mutating func suspend(_ bytes: Span<UInt8>, _ bytesMax: Int) throws(WireError) -> Int? {
        guard bytes.count - begin <= bytesMax else { throw .fieldsTooLarge }
        searched = bytes.count
        return nil
    }

    /// Reads the field line that begins at `line`; nil if its end has not arrived.
    @inline(never)
    private func readLine(_ bytes: Span<UInt8>) throws(WireError) -> (nameEnd: Int, end: Int)? {
        let nameEnd = bytes.first(notIn: .token, from: line)
        guard nameEnd < bytes.count else { return nil }
        guard bytes[nameEnd] == ASCII.colon, nameEnd > line else {
            throw lineError(bytes, at: nameEnd)
        }
        let end = bytes.firstControl(from: nameEnd &+ 1)
        guard end < bytes.count else { return nil }
        guard bytes[end] == ASCII.carriageReturn else {
            throw bytes[end] == ASCII.lineFeed ? .lineEnd : .fieldValue
        }
        guard end &+ 1 < bytes.count else { return nil }
        guard bytes[end &+ 1] == ASCII.lineFeed else { throw .lineEnd }
        return (nameEnd, end)
    }

    /// The error in a line whose name does not end with a colon.
    private func lineError(_ bytes: Span<UInt8>, at index: Int) -> WireError {
        switch bytes[index] {
        case ASCII.lineFeed: .lineEnd
        case ASCII.space where index == line, ASCII.tab where index == line: .foldedField
        default: .fieldName
        }
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
}
