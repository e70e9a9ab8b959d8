import Basics
import RESP

extension FuzzTarget {
    /// Replies of a store. The result does not depend on the pieces, and a value that is written
    /// again is read again as the same.
    static let resp = FuzzTarget(
        name: "resp",
        tokens: [
            "\r\n", "\r", "\n", "\0", "+", "-", ":", "$", "*", "+OK\r\n", "-ERR x\r\n", ":1\r\n",
            "$5\r\nhello\r\n", "$0\r\n\r\n", "$-1\r\n", "*-1\r\n", "*0\r\n", "*2\r\n",
            "*1\r\n*1\r\n",
            "9223372036854775808", "-9223372036854775808", "1114113", "_\r\n", "%1\r\n", "0",
        ]
    ) { input in
        let whole = replies(in: [input])
        if replies(in: input.map { [$0] }) != whole {
            return "read byte by byte, the result differs"
        }
        let sum = input.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xFFFF }
        let cut = input.isEmpty ? 0 : sum % input.count
        if replies(in: [Array(input[..<cut]), Array(input[cut...])]) != whole {
            return "divided at \(cut), the result differs"
        }
        var written: [UInt8] = []
        for value in whole.values { append(value, to: &written) }
        return replies(in: [written]).values == whole.values
            ? nil : "values change when they are written and read"
    }

    private struct Replies: Equatable {
        var values: [RESPValue] = []
        var error: RESPError?
    }

    private static func replies(in pieces: [[UInt8]]) -> Replies {
        var reader = RESPReader(limits: RESPLimits())
        var replies = Replies()
        do throws(RESPError) {
            for piece in pieces {
                var position = 0
                while let value = try reader.read(piece.span, from: &position) {
                    replies.values.append(value)
                }
            }
        } catch {
            replies.error = error
        }
        return replies
    }

    /// Recursive, to the depth that the reader allows.
    private static func append(_ value: RESPValue, to written: inout [UInt8]) {
        switch value {
        case .simple(let text): append("+", text, to: &written)
        case .error(let text): append("-", text, to: &written)
        case .integer(let number): written.append(":\(number)\r\n")
        case .bulk(let text):
            written.append("$\(text.count)\r\n")
            written.append(text)
            written.append("\r\n")
        case .null: written.append("$-1\r\n")
        case .array(let values):
            written.append("*\(values.count)\r\n")
            for value in values { append(value, to: &written) }
        }
    }

    private static func append(_ type: String, _ text: Bytes, to written: inout [UInt8]) {
        written.append(type)
        written.append(text)
        written.append("\r\n")
    }
}
