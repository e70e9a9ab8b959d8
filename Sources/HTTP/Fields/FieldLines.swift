/// Iterates over the lines of a `Fields`. Each call gets the same text from the caller.
package struct FieldLines {
    /// The positions of a line and its parts in the text.
    package struct Line {
        package let name: Range<Int>
        package let value: Range<Int>
        /// With the line end.
        let all: Range<Int>
    }

    private var position: Int

    /// The first line begins at `position`.
    package init(from position: Int) {
        self.position = position
    }

    /// The next line; nil after the last.
    package mutating func nextLine(in text: Span<UInt8>) -> Line? {
        guard position < text.count, let colon = text.firstInBlocks(ASCII.colon, from: position)
        else { return nil }
        let start = position
        position = FieldLines.endOfLine(text, from: colon)
        var (value, valueEnd) = (colon &+ 1, position &- 2)
        while value < valueEnd, ASCII.isWhiteSpace(text[value]) { value &+= 1 }
        while valueEnd > value, ASCII.isWhiteSpace(text[valueEnd &- 1]) { valueEnd &-= 1 }
        return Line(name: start..<colon, value: value..<valueEnd, all: start..<position)
    }

    /// The next line with that name; nil if there is none.
    mutating func nextLine(named name: Span<UInt8>, in text: Span<UInt8>) -> Line? {
        while position < text.count {
            let nameEnd = position &+ name.count
            if nameEnd < text.count, text[nameEnd] == ASCII.colon,
                text.extracting(position..<nameEnd).equalsIgnoringCase(name)
            {
                return nextLine(in: text)
            }
            position = FieldLines.endOfLine(text, from: position)
        }
        return nil
    }

    /// The offset behind the line end; every line has one.
    private static func endOfLine(_ text: Span<UInt8>, from start: Int) -> Int {
        text.firstLineFeed(from: start).map { $0 &+ 1 } ?? text.count
    }
}
