package import Basics

/// A place in a text as an editor shows it.
package struct TextPosition: Sendable, Equatable {
    /// Counted from one.
    package let line: Int
    /// Characters (Unicode scalars) from the start of the line, counted from one.
    package let column: Int

    /// The place of a byte; behind the end, that of the end.
    ///
    /// Counts from the start of the text each time: meant for messages.
    package init(of offset: Int, in text: Bytes) {
        let span = text.span
        var line = 1
        var column = 1
        for place in 0..<max(0, min(offset, span.count)) {
            if span[place] == 0x0A {
                line += 1
                column = 1
            } else if span[place] & 0xC0 != 0x80 {
                column += 1
            }
        }
        self.line = line
        self.column = column
    }
}
