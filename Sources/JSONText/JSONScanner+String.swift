/// Scanning strings, RFC 8259 section 7: plain parts are scanned sixteen bytes at a time.
extension JSONScanner {
    /// Scans the rest of a string, including its closing quote.
    @inline(__always)
    func string(_ start: Int) throws(JSONError) -> Int {
        let end = afterPlain(start)
        return text.byte(end) == .quote ? end &+ 1 : try restOfString(end)
    }

    /// The first byte that is not plain.
    @inline(__always)
    func afterPlain(_ start: Int) -> Int {
        text.endOfPlain(start)
    }

    @inline(never)
    private func restOfString(_ start: Int) throws(JSONError) -> Int {
        var at = start
        while true {
            at = afterPlain(at)
            if text.byte(at) == .quote { return at &+ 1 }
            at = try afterSpecialBytes(at)
        }
    }

    /// Scans escapes and UTF-8 sequences between runs of plain bytes.
    @inline(__always)
    private func afterSpecialBytes(_ start: Int) throws(JSONError) -> Int {
        var at = start
        while true {
            let byte = text.byte(at)
            if byte == .backslash {
                at = try escape(at)
            } else if byte >= 0x80 {
                at = try utf8Sequence(at)
            } else if byte < .space {
                guard at < text.count else { throw unexpected(at) }
                throw JSONError(offset: at, reason: .controlByte)
            } else {
                return at
            }
        }
    }

    /// Scans one escape. A high surrogate must be followed by the escape of a low one; a low one
    /// alone is an error.
    func escape(_ start: Int) throws(JSONError) -> Int {
        switch text.byte(start &+ 1) {
        case .quote, .backslash, .slash, UInt8(ascii: "b"), UInt8(ascii: "f"), UInt8(ascii: "n"),
            UInt8(ascii: "r"), UInt8(ascii: "t"):
            return start &+ 2
        case UInt8(ascii: "u"):
            let unit = try codeUnit(start)
            guard unit & 0xF800 == 0xD800 else { return start &+ 6 }
            let other = start &+ 6
            guard unit & 0x0400 == 0, text.byte(other) == .backslash,
                text.byte(other &+ 1) == UInt8(ascii: "u"),
                try codeUnit(other) & 0xFC00 == 0xDC00
            else { throw JSONError(offset: start, reason: .loneSurrogate) }
            return start &+ 12
        default:
            guard start &+ 1 < text.count else { throw unexpected(text.count) }
            throw JSONError(offset: start, reason: .invalidEscape)
        }
    }

    /// The four digits of the `\u` at `start`.
    private func codeUnit(_ start: Int) throws(JSONError) -> UInt32 {
        var unit: UInt32 = 0
        for index in 2..<6 {
            guard let digit = text.byte(start &+ index).hexValue else {
                guard start &+ index < text.count else { throw unexpected(text.count) }
                throw JSONError(offset: start, reason: .invalidEscape)
            }
            unit = unit << 4 | digit
        }
        return unit
    }

    /// Scans one UTF-8 sequence of two to four bytes (Unicode, table 3-7: no overlong forms, no
    /// surrogates, nothing above U+10FFFF).
    func utf8Sequence(_ start: Int) throws(JSONError) -> Int {
        let lead = text.byte(start)
        let second = text.byte(start &+ 1)
        let isWellFormed: Bool
        let length: Int
        switch lead {
        case 0xC2...0xDF: (length, isWellFormed) = (2, second & 0xC0 == 0x80)
        case 0xE0: (length, isWellFormed) = (3, second & 0xE0 == 0xA0)
        case 0xED: (length, isWellFormed) = (3, second & 0xE0 == 0x80)
        case 0xE1...0xEF: (length, isWellFormed) = (3, second & 0xC0 == 0x80)
        case 0xF0: (length, isWellFormed) = (4, second >= 0x90 && second <= 0xBF)
        case 0xF1...0xF3: (length, isWellFormed) = (4, second & 0xC0 == 0x80)
        case 0xF4: (length, isWellFormed) = (4, second & 0xF0 == 0x80)
        default: (length, isWellFormed) = (1, false)
        }
        guard isWellFormed,
            length < 3 || text.byte(start &+ 2) & 0xC0 == 0x80,
            length < 4 || text.byte(start &+ 3) & 0xC0 == 0x80
        else { throw JSONError(offset: start, reason: .invalidUTF8) }
        return start &+ length
    }
}
