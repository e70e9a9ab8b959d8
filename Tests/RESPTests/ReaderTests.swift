import Basics
import Testing

@testable import RESP

/// The grammar of RESP2, at every split of the bytes, and the limits.
@Suite struct ReaderTests {
    static let replies: [(String, [RESPValue])] = [
        ("+OK\r\n", [.simple(Bytes("OK"))]),
        ("+\r\n", [.simple(Bytes())]),
        ("-READONLY no\r\n", [.error(Bytes("READONLY no"))]),
        (":0\r\n:-1\r\n", [.integer(0), .integer(-1)]),
        (":9223372036854775807\r\n", [.integer(.max)]),
        (":-9223372036854775808\r\n", [.integer(.min)]),
        ("$5\r\nhello\r\n", [.bulk(Bytes("hello"))]),
        ("$2\r\n\r\n\r\n", [.bulk(Bytes("\r\n"))]),
        ("$0\r\n\r\n", [.bulk(Bytes())]),
        ("$-1\r\n*-1\r\n", [.null, .null]),
        ("*0\r\n", [.array([])]),
        ("*2\r\n:1\r\n*1\r\n$1\r\na\r\n", [.array([.integer(1), .array([.bulk(Bytes("a"))])])]),
        ("*2\r\n*0\r\n$-1\r\n+x\r\n", [.array([.array([]), .null]), .simple(Bytes("x"))]),
    ]

    @Test(arguments: replies)
    func repliesAreReadAtEverySplit(_ input: String, _ expected: [RESPValue]) throws {
        let bytes = Array(input.utf8)
        for cut in 0...bytes.count {
            let pieces = [Array(bytes[..<cut]), Array(bytes[cut...])]
            #expect(try Self.read(pieces) == expected, "divided at \(cut)")
        }
        #expect(try Self.read(bytes.map { [$0] }) == expected)
    }

    @Test(arguments: [
        ("_\r\n", RESPError.type), ("OK\r\n", .type), ("%1\r\n", .type), ("\r\n", .type),
        (":\r\n", .number), (":+1\r\n", .number), (":01\r\n", .number), (":-0\r\n", .number),
        (":-\r\n", .number), (": 1\r\n", .number), (":9223372036854775808\r\n", .number),
        (":-9223372036854775809\r\n", .number), (":1234567890123456789012\r\n", .number),
        ("$x\r\n", .number), ("*\r\n", .number), ("$-2\r\n", .length), ("*-2\r\n", .length),
        ("+a\n", .lineEnd), ("+a\rb\r\n", .lineEnd), (":1\r\r\n", .lineEnd),
        ("$2\r\nhello\r\n", .stringEnd), ("$0\r\n\n", .stringEnd), ("$1\r\na\rb", .stringEnd),
    ])
    func malformedRepliesAreRefused(_ input: String, _ error: RESPError) {
        let bytes = Array(input.utf8)
        #expect(throws: error) { try Self.read([bytes]) }
        #expect(throws: error) { try Self.read(bytes.map { [$0] }) }
    }

    /// The same bytes would be a reply.
    @Test func anErrorIsFinal() {
        var reader = RESPReader(limits: RESPLimits())
        #expect(throws: RESPError.type) { try Self.read("x", &reader) }
        #expect(throws: RESPError.type) { try Self.read("+OK\r\n", &reader) }
    }

    // MARK: Limits

    @Test func aReplyOfTheGreatestSizeIsReadAndOneByteMoreIsRefused() throws {
        var limits = RESPLimits()
        limits.valueBytes = 100
        // "$92\r\n" and CR LF are seven bytes.
        let text = String(repeating: "a", count: 93)
        #expect(try Self.read(["$93\r\n\(text)\r\n"], limits) == [.bulk(Bytes(text))])
        #expect(throws: RESPError.tooLarge) { try Self.read(["$96\r\n"], limits) }
        let line = "+" + String(repeating: "a", count: 98)
        #expect(throws: RESPError.tooLarge) { try Self.read([line, "aa"], limits) }
        #expect(try Self.read(["+" + text + "\r\n"], limits).count == 1)
    }

    /// The limit is one of each reply, not of the connection.
    @Test func eachReplyHasTheWholeLimit() throws {
        var limits = RESPLimits()
        limits.valueBytes = 20
        #expect(
            try Self.read([String(repeating: "$5\r\nhello\r\n", count: 50)], limits).count == 50)
    }

    @Test func theDefaultLimitHoldsForAValueOfOneMebibyte() throws {
        let text = String(repeating: "a", count: 1 << 20)
        #expect(try Self.read(["*2\r\n:1\r\n$1048576\r\n", text, "\r\n"]).count == 1)
        #expect(try Self.read(["$1114000\r\n"]).isEmpty)
        #expect(throws: RESPError.tooLarge) { try Self.read(["$1114113\r\n"]) }
    }

    @Test func arraysNestAsDeepAsTheLimit() throws {
        let eight = String(repeating: "*1\r\n", count: 8)
        #expect(try Self.read([eight + ":1\r\n"]).count == 1)
        #expect(throws: RESPError.tooDeep) { try Self.read([eight + "*1\r\n"]) }
        #expect(throws: RESPError.tooDeep) { try Self.read([eight + "*0\r\n"]) }
    }

    @Test func elementsAreBoundedInAll() throws {
        let limit = RESPLimits().elements
        let full = "*\(limit)\r\n" + String(repeating: ":1\r\n", count: limit)
        #expect(try Self.read([full]).count == 1)
        #expect(throws: RESPError.tooManyElements) { try Self.read(["*\(limit + 1)\r\n"]) }
        #expect(throws: RESPError.tooManyElements) {
            try Self.read(["*2\r\n*\(limit)\r\n"])
        }
    }

    @Test func aReplyThatHasBegunIsInValue() throws {
        var reader = RESPReader(limits: RESPLimits())
        #expect(!reader.isInValue)
        #expect(try Self.read("*1\r\n:1\r", &reader) == [])
        #expect(reader.isInValue)
        #expect(try Self.read("\n", &reader) == [.array([.integer(1)])])
        #expect(!reader.isInValue)
    }

    // MARK: Reading

    static func read(
        _ pieces: [[UInt8]], _ limits: RESPLimits = RESPLimits()
    ) throws(RESPError) -> [RESPValue] {
        var reader = RESPReader(limits: limits)
        var values: [RESPValue] = []
        for piece in pieces {
            var position = 0
            while let value = try reader.read(piece.span, from: &position) { values.append(value) }
        }
        return values
    }

    static func read(
        _ pieces: [String], _ limits: RESPLimits = RESPLimits()
    ) throws(RESPError) -> [RESPValue] {
        try read(pieces.map { Array($0.utf8) }, limits)
    }

    static func read(
        _ text: String, _ reader: inout RESPReader
    ) throws(RESPError) -> [RESPValue] {
        var values: [RESPValue] = []
        var position = 0
        let bytes = Array(text.utf8)
        while let value = try reader.read(bytes.span, from: &position) { values.append(value) }
        return values
    }
}
