import Testing

@testable import Process

/// The wire format of Protocol Buffers.
@Suite struct ProtobufTests {
    /// `Status { message: "x", code: 2 }`, `Event { time_unix_nano: 1, name: "a" }` and
    /// `KeyValue { key: "k", value { int_value: 300 } }`.
    @Test func writesTheBytesOfTheFormat() {
        var status = ProtobufWriter()
        status.write(2, "x")
        status.write(3, varint: 2)
        #expect(status.bytes == [0x12, 0x01, 0x78, 0x18, 0x02])
        var event = ProtobufWriter()
        event.write(1, fixed: UInt64(1))
        event.write(2, "a")
        #expect(event.bytes == [0x09, 1, 0, 0, 0, 0, 0, 0, 0, 0x12, 0x01, 0x61])
        var attribute = ProtobufWriter()
        attribute.write(1, "k")
        attribute.write(2) { $0.write(3, varint: 300) }
        #expect(attribute.bytes == [0x0A, 0x01, 0x6B, 0x12, 0x03, 0x18, 0xAC, 0x02])
        var flags = ProtobufWriter()
        flags.write(16, fixed: UInt32(0x301))
        #expect(flags.bytes == [0x85, 0x01, 0x01, 0x03, 0, 0])
        var id = ProtobufWriter()
        id.write(2, bigEndian: 0x0102_0304_0506_0708)
        #expect(id.bytes == [0x12, 0x08, 1, 2, 3, 4, 5, 6, 7, 8])
    }

    @Test(arguments: [0, 1, 127, 128, 300, UInt64(UInt32.max), .max])
    func readsWhatItWrites(_ number: UInt64) {
        var writer = ProtobufWriter()
        writer.write(1, varint: number)
        writer.write(1_000, "text")
        writer.write(3, fixed: UInt32(7))
        writer.write(4, fixed: number)
        let fields = ProtobufReader(writer.bytes).map { $0 }
        #expect(fields.map(\.field) == [1, 1_000, 3, 4])
        #expect(fields[0].value == .number(number))
        #expect(fields[1].value == .bytes(Array("text".utf8)))
        #expect(fields[2].value == .bytes([7, 0, 0, 0]))
    }

    @Test(
        arguments: [
            [0x08], [0x0A, 0x05, 0x61], [0x0B], [UInt8](repeating: 0xFF, count: 10),
            [0x0A] + [UInt8](repeating: 0xFF, count: 9) + [0x01],
        ] as [[UInt8]])
    func malformedBytesEndTheFields(_ bytes: [UInt8]) {
        #expect(ProtobufReader(bytes).map(\.field) == [])
    }
}
