import CByteClasses

extension Span<UInt8> {
    /// The offset of the first quote at or after `start` that is followed by this byte or by a backslash;
    /// `count` if there is none.
    @inline(__always)
    func firstQuote(before byte: UInt8, from start: Int) -> Int {
        precondition(start >= 0, "an offset is not negative")
        return unsafe withUnsafeBufferPointer { text in
            guard let first = text.baseAddress else { return text.count }
            return unsafe tributary_first_quote_before(first, text.count, start, byte)
        }
    }
}
