/// A place in a text as an editor shows it. It moves forward through the text, so that the places of
/// many bytes cost one pass.
package struct TextPosition: Sendable, Equatable {
    /// Counted from one.
    package private(set) var line = 1
    /// Characters (Unicode scalars) from the start of the line, counted from one.
    package private(set) var column = 1
    /// Bytes from the start of the text.
    private var offset = 0

    /// The first byte.
    package init() {}

    /// Moves to a byte that is not before this one; behind the end of the text, to its end.
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
