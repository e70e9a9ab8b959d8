import Basics
import Testing

@testable import RESP

/// Commands as they are sent.
@Suite struct CommandTests {
    @Test func aCommandIsAnArrayOfBulkStrings() {
        let command = RESPCommand("SET", "key", "a\r\nb")
        #expect(
            String(decoding: command.bytes, as: UTF8.self)
                == "*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$4\r\na\r\nb\r\n")
    }

    @Test(arguments: [0, 9, 10, -1, -10, 99_999, Int64.max, Int64.min])
    func aNumberIsWrittenWithItsLength(_ number: Int64) {
        var bytes: [UInt8] = []
        bytes.append(argument: number)
        let text = "\(number)"
        #expect(String(decoding: bytes, as: UTF8.self) == "$\(text.utf8.count)\r\n\(text)\r\n")
    }

    /// What the writer writes is what the reader reads.
    @Test func aCommandIsReadAsItsArguments() throws {
        let arguments = ["EVALSHA", "", "é", "0", "\0\r\n"].map { Bytes($0) }
        let values = try ReaderTests.read([RESPCommand(arguments).bytes])
        #expect(values == [.array(arguments.map { .bulk($0) })])
        var parts: [UInt8] = []
        parts.append(commandOf: 2)
        parts.append(argument: "PING")
        parts.append(argument: Bytes("x").span)
        #expect(parts == RESPCommand("PING", "x").bytes)
    }
}
