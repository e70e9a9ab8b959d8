import Basics

/// What servers read in different ways in a path: the one list, which routes, calls and `proxy` use.
///
/// A gateway decides by the path that it reads. A backend that reads another one serves what the
/// gateway would have refused.
package enum PathReading: Comparable, Sendable {
    /// All servers read the same path.
    case plain
    /// Some servers read another path. Refused where `paths: strict` holds.
    ///
    /// - empty segments, which many servers merge; the one at the end is a slash and no segment
    /// - `;`, where servlet containers cut a segment
    /// - an encoded slash, `?` or `#`, which some servers decode before they split
    /// - control bytes, and white space around a segment, which some servers trim, also in Unicode
    /// - a dot at the end of a segment, which file names of Windows do not have
    /// - an escape in what the escapes mean (`%252F`), for servers that decode twice
    /// - bytes that are not UTF-8, overlong forms included, and other forms of ASCII characters, such as
    ///   full-width ones
    case ambiguous
    /// Some servers leave the path's own folder, or end it. Refused in every path of a backend.
    ///
    /// - a segment of one or two dots, in any spelling, also before `;` and beside blanks
    /// - a backslash, a zero byte
    case harmful

    /// - Parameter path: a path, or a part of one, percent-encoded
    package init(of path: Span<UInt8>) {
        guard path.firstOffset(of: ASCII.percent) != nil else {
            self = PathScan(path).reading
            return
        }
        let decoded = path.decodedOnce()
        // An encoded delimiter is none for servers that split first, and a server that decodes twice
        // finds what an escape hides.
        var reading: PathReading =
            decoded.hasEncodedDelimiter || decoded.bytes.span.hasEscape ? .ambiguous : .plain
        let scan = PathScan(decoded.bytes.span)
        reading = max(reading, scan.reading)
        if !scan.isASCII, let folded = decoded.bytes.span.foldedToASCII() {
            if folded.hasForms { reading = max(reading, .ambiguous) }
            reading = max(reading, PathScan(folded.bytes.span).reading)
        }
        self = reading
    }
}

/// Reads a decoded path, or a part of one.
private struct PathScan {
    private(set) var reading = PathReading.plain
    private(set) var isASCII = true

    init(_ text: Span<UInt8>) {
        var part = Part()
        var segmentStart = 0
        for index in text.indices {
            let byte = text[index]
            switch byte {
            case 0, UInt8(ascii: "\\"): part.isHarmful = true
            case ASCII.slash:
                end(&part)
                // Nothing stands before the first slash of a path.
                if index > 0, Self.isAmbiguous(text, segmentStart..<index) { raise(to: .ambiguous) }
                segmentStart = index + 1
            case ASCII.semicolon, ASCII.question, UInt8(ascii: "#"):
                end(&part)
                raise(to: .ambiguous)
            case UInt8(ascii: "."): part.dots += 1
            case ASCII.space: break
            case ..<0x20, ASCII.delete: raise(to: .ambiguous)
            default:
                part.others += 1
                if byte >= 0x80 { isASCII = false }
            }
        }
        end(&part)
        if segmentStart < text.count, Self.isAmbiguous(text, segmentStart..<text.count) {
            raise(to: .ambiguous)
        }
        if !isASCII, (try? UTF8Span(validating: text)) == nil { raise(to: .ambiguous) }
    }

    private mutating func raise(to other: PathReading) {
        reading = max(reading, other)
    }

    private mutating func end(_ part: inout Part) {
        if part.isHarmful || part.isDots { raise(to: .harmful) }
        part = Part()
    }

    /// Whether servers trim or drop the segment.
    private static func isAmbiguous(_ text: Span<UInt8>, _ segment: Range<Int>) -> Bool {
        guard let first = segment.first, let last = segment.last else { return true }
        return text[first] == ASCII.space || text[last] == ASCII.space
            || text[last] == UInt8(ascii: ".")
    }

    /// What stands between two delimiters.
    private struct Part {
        var isHarmful = false
        var dots = 0
        /// Neither dots nor blanks.
        var others = 0

        /// `.` or `..`
        var isDots: Bool { others == 0 && (dots == 1 || dots == 2) }
    }
}

extension Span<UInt8> {
    /// The text with its escapes replaced; what is no escape stays.
    fileprivate func decodedOnce() -> (bytes: [UInt8], hasEncodedDelimiter: Bool) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        var hasEncodedDelimiter = false
        var index = 0
        while index < count {
            guard let byte = escapedByte(at: index) else {
                bytes.append(self[index])
                index += 1
                continue
            }
            bytes.append(byte)
            if byte == ASCII.slash { hasEncodedDelimiter = true }
            index += 3
        }
        return (bytes, hasEncodedDelimiter)
    }

    fileprivate var hasEscape: Bool {
        var start = 0
        while let index = firstOffset(of: ASCII.percent, from: start) {
            if escapedByte(at: index) != nil { return true }
            start = index + 1
        }
        return false
    }

    private func escapedByte(at index: Int) -> UInt8? {
        guard self[index] == ASCII.percent, index + 2 < count,
            let high = ASCII.hexValue(self[index + 1]), let low = ASCII.hexValue(self[index + 2])
        else { return nil }
        return high << 4 | low
    }

    /// The text with the ASCII characters that it has in other forms: overlong ones, which old decoders
    /// accept, and those that Windows or a normalization of Unicode maps to ASCII. Also with a space for
    /// white space and invisible characters. Nil without any of these.
    package func foldedToASCII() -> (bytes: [UInt8], hasForms: Bool)? {
        var bytes: [UInt8] = []
        var hasForms = false
        var index = 0
        while index < count {
            let (byte, length) = overlongForm(at: index) ?? form(at: index) ?? (self[index], 1)
            if length > 1, byte != ASCII.space { hasForms = true }
            bytes.append(byte)
            index += length
        }
        return bytes.count < count ? (bytes, hasForms) : nil
    }

    /// The ASCII character that begins here with more bytes than it needs.
    private func overlongForm(at index: Int) -> (byte: UInt8, length: Int)? {
        let length: Int
        switch self[index] {
        case 0xC0, 0xC1:
            // Old decoders ignore the upper bits of the second byte.
            guard index + 1 < count else { return nil }
            return ((self[index] & 1) << 6 | self[index + 1] & 0x3F, 2)
        case 0xE0: length = 3
        case 0xF0: length = 4
        case 0xF8: length = 5
        case 0xFC: length = 6
        default: return nil
        }
        var byte: UInt8 = 0
        for behind in (0..<(length - 1)).reversed() {
            // The seven bits of ASCII are in the last two bytes; all others are zeros.
            let most: UInt8 = behind == 0 ? 0x3F : behind == 1 ? 1 : 0
            guard let bits = bits(index + length - 1 - behind), bits <= most else { return nil }
            byte = byte << 6 | bits
        }
        return (byte, length)
    }

    /// The character of two or three bytes that begins here, if it is a form of an ASCII character.
    private func form(at index: Int) -> (byte: UInt8, length: Int)? {
        let lead = self[index]
        guard lead >= 0xC2, lead < 0xF0, let second = bits(index + 1) else { return nil }
        if lead < 0xE0 {
            return Self.ascii(of: UInt16(lead & 0x1F) << 6 | UInt16(second)).map { ($0, 2) }
        }
        guard let third = bits(index + 2) else { return nil }
        let scalar = UInt16(lead & 0xF) << 12 | UInt16(second) << 6 | UInt16(third)
        return Self.ascii(of: scalar).map { ($0, 3) }
    }

    /// The lower bits of a continuation byte.
    private func bits(_ index: Int) -> UInt8? {
        guard index < count, self[index] & 0xC0 == 0x80 else { return nil }
        return self[index] & 0x3F
    }

    /// What Windows (best fit) or the normalization NFKC makes of a character; a space for what is
    /// trimmed or ignored.
    private static func ascii(of scalar: UInt16) -> UInt8? {
        switch scalar {
        case 0xFF01...0xFF5E: UInt8(truncatingIfNeeded: scalar &- 0xFF01 &+ 0x21)
        case 0x85, 0xA0, 0x1680, 0x180E, 0x2000...0x200A, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000:
            ASCII.space
        case 0xAD, 0x200B...0x200F, 0x2060...0x2064, 0xFEFF: ASCII.space
        case 0x2024, 0x2025, 0xFE52: UInt8(ascii: ".")
        case 0x2044, 0x2215: ASCII.slash
        case 0x2216, 0xFE68: UInt8(ascii: "\\")
        case 0x037E, 0xFE54: ASCII.semicolon
        case 0xFE56: ASCII.question
        case 0xFE5F: UInt8(ascii: "#")
        case 0xFE6A: ASCII.percent
        case 0x017F: UInt8(ascii: "s")
        case 0x212A: UInt8(ascii: "K")
        default: nil
        }
    }
}
