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
    /// - control bytes, and white space around a segment, which some servers trim
    /// - a dot at the end of a segment, which file names of Windows do not have
    /// - an escape in what the escapes mean (`%252F`), for servers that decode twice
    /// - bytes that are not UTF-8, overlong forms included, and full-width forms of ASCII
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
            reading = max(reading, .ambiguous, PathScan(folded.span).reading)
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

    /// The text with the ASCII characters that it has in other forms: overlong ones, which old
    /// decoders accept, and full-width ones, which Windows maps to ASCII. Nil without such forms.
    fileprivate func foldedToASCII() -> [UInt8]? {
        var bytes: [UInt8] = []
        var index = 0
        while index < count {
            let (byte, length) = character(at: index)
            bytes.append(byte)
            index += length
        }
        return bytes.count < count ? bytes : nil
    }

    /// The byte at an offset, or the ASCII character that begins there in another form.
    private func character(at index: Int) -> (byte: UInt8, length: Int) {
        func bits(_ offset: Int) -> UInt8? {
            guard index + offset < count, self[index + offset] & 0xC0 == 0x80 else { return nil }
            return self[index + offset] & 0x3F
        }
        switch self[index] {
        case 0xC0, 0xC1:
            guard let low = bits(1) else { break }
            return ((self[index] & 1) << 6 | low, 2)
        case 0xE0:
            guard let middle = bits(1), middle < 2, let low = bits(2) else { break }
            return (middle << 6 | low, 3)
        case 0xEF:
            // U+FF01 to U+FF5E are `!` to `~`.
            guard let middle = bits(1), middle == 0x3C || middle == 0x3D, let low = bits(2),
                middle == 0x3C ? low > 0 : low < 0x1F
            else { break }
            return ((middle == 0x3C ? 0x20 : 0x60) + low, 3)
        default: break
        }
        return (self[index], 1)
    }
}
