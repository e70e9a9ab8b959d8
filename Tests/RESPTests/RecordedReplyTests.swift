import Basics
import Foundation
import Testing

@testable import RESP

/// Replies as hiredis and redis-py read them (`Tests/Fixtures/resp`).
@Suite struct RecordedReplyTests {
    struct Recorded {
        let input: [UInt8]
        let values: [String]
        let end: String
    }

    /// The recorded inputs: valid ones, then mutated ones.
    static func recorded() throws -> [Recorded] {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Fixtures/resp/replies.txt")
        return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map { line in
            let fields = line.split(separator: " ").map { $0 == "-" ? "" : $0 }
            return Recorded(
                input: bytes(ofHex: String(fields[0])),
                values: fields[1].split(separator: "|").map(String.init), end: String(fields[2]))
        }
    }

    @Test func validRepliesAreReadAsOtherReadersDo() throws {
        let valid = try Self.recorded().prefix(1500)
        #expect(valid.count == 1500)
        for recorded in valid {
            let (values, end) = Self.read(recorded.input)
            #expect(values == recorded.values && end == "read", "\(recorded.input)")
        }
    }

    /// This reader is strict: it may refuse what hiredis accepts, and never reads another value.
    @Test func mutatedRepliesAreRefusedOrReadAsHiredisDoes() throws {
        var refused = 0
        var agreed = 0
        for recorded in try Self.recorded().dropFirst(1500) {
            let (values, end) = Self.read(recorded.input)
            #expect(recorded.values.starts(with: values), "\(recorded.input)")
            if end == "error" {
                refused += 1
            } else {
                agreed += 1
                #expect(values == recorded.values, "\(recorded.input)")
            }
        }
        #expect(refused > 300 && agreed > 300)
    }

    private static func read(_ input: [UInt8]) -> (values: [String], end: String) {
        var reader = RESPReader(limits: RESPLimits())
        var values: [String] = []
        var position = 0
        do throws(RESPError) {
            while let value = try reader.read(input.span, from: &position) {
                values.append(canonical(value))
            }
            return (values, "read")
        } catch {
            return (values, "error")
        }
    }

    /// The texts of errors are not compared, since redis-py removes their first word.
    private static func canonical(_ value: RESPValue) -> String {
        switch value {
        case .simple(let text), .bulk(let text): "s" + hex(text.array)
        case .error: "e"
        case .integer(let number): "i\(number)"
        case .null: "n"
        case .array(let values): "[\(values.map(canonical).joined(separator: ","))]"
        }
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private static func bytes(ofHex text: String) -> [UInt8] {
        let digits = text.utf8.map { UInt8(truncatingIfNeeded: $0 < 58 ? $0 &- 48 : $0 &- 87) }
        return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}
