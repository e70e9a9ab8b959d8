import Basics
import Testing

@testable import HTTP

/// Texts are compared four or eight bytes at a time; the results are those of a comparison byte by byte.
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
    @Test(arguments: [1, 3, 4, 5, 6, 7, 8, 9, 16, 19])
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
        let literals: [StaticString] = [
            "GET", "HEAD", "HEAD ", "DELETE", "OPTIONS", "HTTP/1.1", "keep-alive",
            "Transfer-Encoding",
        ]
        for literal in literals {
            let bytes = Array("\(literal)".utf8)
            #expect(literals.count { bytes.span.equals($0) } == 1)
            for place in bytes.indices {
                var changed = bytes
                changed[place] ^= 0x20
                #expect(!literals.contains { changed.span.equals($0) })
            }
        }
    }

    /// Every byte of a token at every place of the names that decide about framing and connection.
    @Test(arguments: ["host", "expect", "connection", "content-length", "transfer-encoding"])
    func tokensMatchAsTheDefinitionSays(name: String) throws {
        let literals: [StaticString] = [
            "host", "expect", "connection", "content-length", "transfer-encoding",
        ]
        let literal = try #require(literals.first { "\($0)" == name })
        let expected = Array(name.utf8)
        var differences = 0
        for place in expected.indices {
            for byte in UInt8.min...UInt8.max where ByteSet.token.contains(byte) {
                for isUpperCase in [false, true] {
                    var text = isUpperCase ? Array(name.uppercased().utf8) : expected
                    text[place] = byte
                    if text.span.isToken(literal) != Self.areEqual(text, expected) {
                        differences += 1
                    }
                }
            }
        }
        #expect(differences == 0)
        for other in [Array(expected.dropLast()), expected + [UInt8(ascii: "s")]] {
            let isToken = other.span.isToken(literal)
            #expect(!isToken)
        }
    }
}
