import GuardedMemory
import Testing

@testable import JSONText

/// Texts are searched sixteen bytes at a time; the results are those of a search byte by byte.
@Suite struct ByteSearchTests {
    static let letter = UInt8(ascii: "k")

    static func isPlain(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte < 0x80 && byte != .quote && byte != .backslash
    }

    /// Every byte value at every position, from every offset before and behind it.
    @Test func endsPlainRunsAtEveryByte() {
        for count in 0...40 {
            var text = [UInt8](repeating: Self.letter, count: count)
            var wrong = 0
            for position in text.indices {
                for byte in UInt8.min...UInt8.max {
                    text[position] = byte
                    for start in [0, position, position + 1, count] {
                        let isInside = start <= position && !Self.isPlain(byte)
                        let end = Lookahead(text.span).endOfPlain(start)
                        if end != (isInside ? position : count) { wrong += 1 }
                    }
                }
                text[position] = Self.letter
            }
            #expect(wrong == 0, "\(count) bytes")
        }
    }

    @Test(arguments: [UInt8(ascii: "e"), .backslash])
    func findsQuotesBeforeAByteAtEveryPosition(_ next: UInt8) {
        for count in 0...40 {
            for position in 0..<max(0, count - 1) {
                // Quotes before another byte, and one at the end, are not found.
                var text = [UInt8](repeating: Self.letter, count: count)
                text[0] = .quote
                text[count - 1] = .quote
                text[position] = .quote
                text[position + 1] = next
                for start in 0...count {
                    let found = text.span.firstQuote(before: UInt8(ascii: "e"), from: start)
                    #expect(found == (start <= position ? position : count))
                }
            }
            let quotes = [UInt8](repeating: .quote, count: count)
            #expect(quotes.span.firstQuote(before: UInt8(ascii: "e"), from: 0) == count)
        }
    }

    /// The memory around the text cannot be read: a search beyond it ends the process.
    @Test func readsNoByteOutsideOfTheText() throws {
        let memory = try #require(GuardedMemory(filledWith: Self.letter))
        for count in 1...70 {
            for text in memory.texts(of: count) {
                for start in 0...count {
                    let end = Lookahead(text.span).endOfPlain(start)
                    let quote = text.span.firstQuote(before: UInt8(ascii: "e"), from: start)
                    #expect(end == count && quote == count)
                }
                // A quote at the end has no byte behind it.
                text[count - 1] = .quote
                let quote = text.span.firstQuote(before: Self.letter, from: 0)
                #expect(quote == count)
                text[count - 1] = Self.letter
            }
        }
    }
}
