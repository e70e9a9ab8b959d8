import CByteClasses

extension Span<UInt8> {
    /// The offset of the first such byte at or after `start`; `count` if there is none. Compares sixteen
    /// bytes at a time.
    @inline(__always)
    func firstOffset(of byte: UInt8, from start: Int) -> Int {
        precondition(start >= 0, "an offset is not negative")
        return unsafe withUnsafeBufferPointer { text in
            guard start < text.count, let first = text.baseAddress else { return text.count }
            return unsafe tributary_first_byte(first, text.count, start, byte)
        }
    }
}
