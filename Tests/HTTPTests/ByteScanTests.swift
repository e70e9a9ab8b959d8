import GuardedMemory
import Testing

@testable import HTTP

/// Texts are scanned sixteen bytes at a time; the results are those of a test of each byte.
@Suite struct ByteScanTests {
    /// A scan, with its definition.
    struct Scan: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let isEnd: @Sendable (UInt8) -> Bool
        let offset: @Sendable (Span<UInt8>, Int) -> Int
    }

    static let names = Set(
        "-.0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)

    static let scans = [
        Scan(testDescription: "names") {
            !names.contains($0)
        } offset: {
            $0.skipCommonBytes(from: $1)
        },
        Scan(testDescription: "paths") {
            !ByteSet.target.contains($0) || "?%".utf8.contains($0)
        } offset: {
            $0.endOfPlainPath(from: $1)
        },
        Scan(testDescription: "queries") {
            !ByteSet.query.contains($0)
        } offset: {
            $0.endOfQuery(from: $1)
        },
        Scan(testDescription: "values") {
            ($0 < 0x20 && $0 != 9) || $0 == 0x7F
        } offset: {
            $0.firstControl(from: $1)
        },
        Scan(testDescription: "line feed") {
            $0 == 10
        } offset: {
            $0.firstLineFeed(from: $1) ?? $0.count
        },
        Scan(testDescription: "colon") {
            $0 == 58
        } offset: {
            $0.firstInBlocks(58, from: $1) ?? $0.count
        },
        Scan(testDescription: "high byte") {
            $0 == 0xFF
        } offset: {
            $0.firstInBlocks(0xFF, from: $1) ?? $0.count
        },
    ]

    /// Every byte value at every position of texts of every length up to four blocks.
    @Test(arguments: scans)
    func findsEveryByteAtEveryPosition(_ scan: Scan) {
        for count in 0...70 {
            var text = [UInt8](repeating: UInt8(ascii: "k"), count: count)
            #expect(scan.offset(text.span, 0) == count)
            var wrong = 0
            for position in text.indices {
                for byte in UInt8.min...UInt8.max {
                    text[position] = byte
                    let expected = scan.isEnd(byte) ? position : count
                    if scan.offset(text.span, 0) != expected { wrong += 1 }
                }
                text[position] = UInt8(ascii: "k")
            }
            #expect(wrong == 0, "\(count) bytes")
        }
    }

    /// Two ends in a text; from every start, the scan finds the first one at or after it.
    @Test(arguments: scans)
    func beginsAtEveryOffset(_ scan: Scan) {
        let end = (UInt8.min...UInt8.max).first(where: scan.isEnd) ?? 0
        for count in 1...50 {
            var wrong = 0
            for position in 0..<count {
                var text = [UInt8](repeating: UInt8(ascii: "k"), count: count)
                text[position] = end
                text[count - 1] = end
                for start in 0...count {
                    let expected = start <= position ? position : min(max(start, count - 1), count)
                    if scan.offset(text.span, start) != expected { wrong += 1 }
                }
            }
            #expect(wrong == 0, "\(count) bytes")
        }
    }

    /// The memory around the text cannot be read: a scan beyond it ends the process.
    @Test(arguments: scans)
    func readsNoByteOutsideOfTheText(_ scan: Scan) throws {
        let memory = try #require(GuardedMemory(filledWith: UInt8(ascii: "k")))
        for count in 0...70 {
            for text in memory.texts(of: count) {
                for start in 0...count { #expect(scan.offset(text.span, start) == count) }
            }
        }
    }

    /// The same for lines, whose colon and end are searched at once.
    @Test func readsNoByteOutsideOfALine() throws {
        let memory = try #require(GuardedMemory(filledWith: UInt8(ascii: "k")))
        for count in 0...70 {
            for text in memory.texts(of: count) {
                for start in 0...count {
                    let found = text.span.usualFieldLine(from: start)
                    #expect(found == nil)
                }
                guard count >= 6 else { continue }
                text[1] = ASCII.colon
                text[count - 2] = ASCII.carriageReturn
                text[count - 1] = ASCII.lineFeed
                let found = text.span.usualFieldLine(from: 0)
                #expect(found?.nameEnd == 1 && found?.end == count - 2)
                text[count - 1] = UInt8(ascii: "k")
                let unfinished = text.span.usualFieldLine(from: 0)
                #expect(unfinished == nil)
                for place in [1, count - 2] { text[place] = UInt8(ascii: "k") }
            }
        }
    }
}
