import Basics
import Testing

@testable import HTTP

/// Texts are compared eight bytes at a time; the results are those of a comparison byte by byte.
@Suite struct CaselessTextTests {
    /// The definition: ASCII letters compared without regard to case.
    private static func areEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        func lower(_ byte: UInt8) -> UInt8 {
            byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte
        }
        return one.map(lower) == other.map(lower)
    }

    /// Every byte beside every other one, at the first, a middle and the last place of texts with and
    /// without whole words.
    @Test(arguments: [1, 7, 8, 9, 16, 19])
    func comparesAsTheDefinitionSays(count: Int) {
        var differences = 0
        for place in Set([0, count / 2, count - 1]) {
            for left in UInt8.min...UInt8.max {
                for right in UInt8.min...UInt8.max {
                    var (one, other) = (
                        [UInt8](repeating: UInt8(ascii: "k"), count: count),
                        [UInt8](repeating: UInt8(ascii: "K"), count: count)
                    )
                    one[place] = left
                    other[place] = right
                    let found = one.span.equalsIgnoringCase(other.span)
                    if found != Self.areEqual(one, other) { differences += 1 }
                }
            }
        }
        #expect(differences == 0)
    }

    @Test func literalsMatchExactly() {
        for text in ["GET", "HTTP/1.1", "keep-alive", "Transfer-Encoding"] {
            let bytes = Array(text.utf8)
            let literals: [StaticString] = ["GET", "HTTP/1.1", "keep-alive", "Transfer-Encoding"]
            #expect(literals.count { bytes.span.equals($0) } == 1)
            for place in bytes.indices {
                var changed = bytes
                changed[place] ^= 0x20
                #expect(!literals.contains { changed.span.equals($0) })
            }
        }
    }
}
