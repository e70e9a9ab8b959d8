import Basics

/// Writes a message in the wire format of Protocol Buffers.
struct ProtobufWriter {
    private(set) var bytes: [UInt8] = []

    private enum WireType: UInt64 {
        case varint = 0
        case fixed64 = 1
        case length = 2
        case fixed32 = 5
    }

    mutating func write(_ field: Int, varint value: UInt64) {
        append(field, .varint)
        append(varint: value)
    }

    mutating func write(_ field: Int, fixed value: UInt64) {
        append(field, .fixed64)
        append(littleEndian: value)
    }

    mutating func write(_ field: Int, fixed value: UInt32) {
        append(field, .fixed32)
        append(littleEndian: value)
    }

    mutating func write(_ field: Int, _ text: String) { write(field, Array(text.utf8)) }

    /// Bytes of an id.
    mutating func write(_ field: Int, bigEndian parts: UInt64...) {
        let bytes = parts.flatMap { part in
            stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: part >> $0) }
        }
        write(field, bytes)
    }

    /// A message, whose fields the closure writes.
    mutating func write(_ field: Int, _ fields: (inout ProtobufWriter) -> Void) {
        var message = ProtobufWriter()
        fields(&message)
        write(field, message.bytes)
    }

    private mutating func write(_ field: Int, _ content: [UInt8]) {
        append(field, .length)
        append(varint: UInt64(content.count))
        bytes.append(contentsOf: content)
    }

    private mutating func append(_ field: Int, _ type: WireType) {
        append(varint: UInt64(field) << 3 | type.rawValue)
    }

    private mutating func append(varint value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    private mutating func append(littleEndian value: some FixedWidthInteger) {
        for shift in stride(from: 0, to: value.bitWidth, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }
}

/// Reads the fields of a message in the wire format of Protocol Buffers, in their order.
struct ProtobufReader: Sequence, IteratorProtocol {
    private var rest: ArraySlice<UInt8>

    enum Value: Equatable {
        case number(UInt64)
        case bytes([UInt8])
    }

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    /// The next field; nil at the end, and before malformed bytes.
    mutating func next() -> (field: Int, value: Value)? {
        guard let key = varint(), let field = Int(exactly: key >> 3) else { return nil }
        let value: Value?
        switch key & 7 {
        case 0: value = varint().map { .number($0) }
        case 1: value = bytes(8).map { .bytes($0) }
        case 2:
            let count = varint().flatMap { Int(exactly: $0) }
            value = count.flatMap { bytes($0) }.map { .bytes($0) }
        case 5: value = bytes(4).map { .bytes($0) }
        default: value = nil
        }
        guard let value else {
            rest = []
            return nil
        }
        return (field, value)
    }

    private mutating func bytes(_ count: Int) -> [UInt8]? {
        guard count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    private mutating func varint() -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 70, by: 7) {
            guard let byte = rest.popFirst() else { return nil }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
        }
        return nil
    }
}
