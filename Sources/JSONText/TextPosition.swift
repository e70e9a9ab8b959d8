/// A position in a text as line and column. It moves forward through the text, so that the
/// positions of many bytes need one pass.
package struct TextPosition: Sendable, Equatable {
    /// Counted from one.
    package private(set) var line = 1
    /// Characters (Unicode scalars) from the start of the line, counted from one.
    package private(set) var column = 1
    /// Bytes from the start of the text.
    private var offset = 0

    /// The position of the first byte.
    package init() {}

    /// Moves forward to a byte, at most to the end of the text.
    package mutating func advance(to target: Int, in text: Span<UInt8>) {
        while offset < min(target, text.count) {
            if text[offset] == 0x0A {
                line += 1
                column = 1
            } else if text[offset] & 0xC0 != 0x80 {
                column += 1
            }
            offset += 1
        }
    }
}
