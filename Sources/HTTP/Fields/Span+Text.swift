package import Basics

extension StaticString {
    /// The bytes of a literal; they live as long as the program.
    package var span: Span<UInt8> {
        @_lifetime(immortal)
        get {
            unsafe _overrideLifetime(
                UnsafeBufferPointer(start: utf8Start, count: utf8CodeUnitCount).span, copying: ())
        }
    }
}

extension Span<UInt8> {
    /// Whether these are exactly the bytes of a literal.
    @inline(__always)
    func equals(_ literal: StaticString) -> Bool {
        let other = literal.span
        guard count == other.count else { return false }
        guard count < 4 else {
            return hasSameWords(as: other) { $0 == $1 }
        }
        for index in indices where self[index] != other[index] { return false }
        return true
    }

    /// Compares four bytes or more word by word; the last word may overlap the one before.
    @inline(__always)
    private func hasSameWords(
        as other: Span<UInt8>, _ areSame: (UInt64, UInt64) -> Bool
    ) -> Bool {
        if count < 8 { return areSame(halfWords, other.halfWords) }
        var index = 0
        while index &+ 8 < count {
            guard areSame(word(at: index), other.word(at: index)) else { return false }
            index &+= 8
        }
        return areSame(word(at: count &- 8), other.word(at: count &- 8))
    }

    /// The first and the last four bytes, which may overlap.
    @inline(__always)
    private var halfWords: UInt64 {
        UInt64(halfWord(at: 0)) | UInt64(halfWord(at: count &- 4)) << 32
    }

    /// Whether these are the bytes of a literal, ASCII letters compared without regard to case.
    package func equalsIgnoringCase(_ literal: StaticString) -> Bool {
        equalsIgnoringCase(literal.span)
    }

    /// Whether two runs are equal, ASCII letters compared without regard to case.
    package func equalsIgnoringCase(_ other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        guard count < 4 else {
            return hasSameWords(as: other) { Self.equalIgnoringCase($0, $1) }
        }
        for index in indices where self[index] != other[index] {
            let folded = self[index] | 0x20
            let isLetter = folded &- UInt8(ascii: "a") < 26
            guard isLetter, folded == other[index] | 0x20 else { return false }
        }
        return true
    }

    /// Whether a token of at least four bytes is this literal, which is in lower case, compared
    /// without regard to case.
    @inline(__always)
    func isToken(_ lowercase: StaticString) -> Bool {
        let other = lowercase.span
        // Exact, because the bytes that differ from letters and dashes in this bit only are no token.
        return count == other.count && hasSameWords(as: other) { $0 | Self.caseBits == $1 }
    }

    /// Without the spaces and tabs around it (OWS, RFC 9110 5.6.3).
    var trimmed: Span<UInt8> {
        @_lifetime(copy self)
        get {
            extracting(trimmedRange)
        }
    }

    /// The range without the surrounding spaces and tabs.
    fileprivate var trimmedRange: Range<Int> {
        var first = 0
        var end = count
        while first < end, ASCII.isWhiteSpace(self[first]) { first += 1 }
        while end > first, ASCII.isWhiteSpace(self[end - 1]) { end -= 1 }
        return first..<end
    }

    /// The offset of the first occurrence of a byte at or after `start`.
    package func firstOffset(of byte: UInt8, from start: Int = 0) -> Int? {
        var index = start
        while index < count {
            if self[index] == byte { return index }
            index += 1
        }
        return nil
    }
}

extension Bytes {
    /// Without the spaces and tabs around it (OWS, RFC 9110 5.6.3).
    package var trimmed: Bytes { self[span.trimmedRange] }
}
