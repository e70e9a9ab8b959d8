/// Writes frames of HTTP/2 by hand, valid or not, independently of the implementation under test:
/// fields as literals, without Huffman codes and without a table (RFC 7541 6.2.2).
package struct H2Frames {
    package private(set) var bytes: [UInt8] = []

    package init() {}

    /// What a client sends first (RFC 9113 3.4).
    package static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    package enum Kind: UInt8 {
        case data, headers, priority, reset, settings, pushPromise, ping, goAway, windowUpdate,
            continuation
    }

    package static let endStream: UInt8 = 0x1
    package static let acknowledgement: UInt8 = 0x1
    package static let endHeaders: UInt8 = 0x4
    package static let padded: UInt8 = 0x8

    /// The preface and empty SETTINGS.
    package static func opening() -> H2Frames {
        var frames = H2Frames()
        frames.append(preface)
        frames.append(.settings, on: 0)
        return frames
    }

    package mutating func append(_ more: [UInt8]) { bytes += more }

    /// Any frame.
    package mutating func append(
        _ kind: Kind, _ flags: UInt8 = 0, on stream: UInt32, _ payload: [UInt8] = []
    ) {
        append(type: kind.rawValue, flags, on: stream, payload)
    }

    package mutating func append(
        type: UInt8, _ flags: UInt8 = 0, on stream: UInt32, _ payload: [UInt8] = []
    ) {
        let length = UInt32(payload.count)
        bytes += Self.bigEndian(length).dropFirst() + [type, flags] + Self.bigEndian(stream)
        bytes += payload
    }

    /// A request with a complete header block.
    package mutating func request(
        _ fields: [(String, String)], on stream: UInt32, endsStream: Bool = true
    ) {
        append(
            .headers, Self.endHeaders | (endsStream ? Self.endStream : 0), on: stream,
            Self.block(fields))
    }

    /// A GET.
    package mutating func get(_ path: String = "/", on stream: UInt32) {
        request(Self.get(path), on: stream)
    }

    package mutating func data(_ text: String, on stream: UInt32, endsStream: Bool = false) {
        append(.data, endsStream ? Self.endStream : 0, on: stream, Array(text.utf8))
    }

    package mutating func windowUpdate(_ increment: UInt32, on stream: UInt32) {
        append(.windowUpdate, on: stream, Self.bigEndian(increment))
    }

    package mutating func reset(_ code: UInt32 = 8, on stream: UInt32) {
        append(.reset, on: stream, Self.bigEndian(code))
    }

    /// SETTINGS with these identifiers and values.
    package mutating func settings(_ values: [(UInt16, UInt32)]) {
        let payload = values.flatMap { id, value in
            [UInt8(id >> 8), UInt8(truncatingIfNeeded: id)] + Self.bigEndian(value)
        }
        append(.settings, on: 0, payload)
    }

    package static func get(_ path: String = "/") -> [(String, String)] {
        [(":method", "GET"), (":scheme", "http"), (":path", path), (":authority", "a")]
    }

    package static func post(_ path: String = "/") -> [(String, String)] {
        [(":method", "POST"), (":scheme", "http"), (":path", path), (":authority", "a")]
    }

    /// A header block.
    package static func block(_ fields: [(String, String)]) -> [UInt8] {
        fields.flatMap { name, value in [0] + string(name) + string(value) }
    }

    private static func string(_ text: String) -> [UInt8] {
        let text = Array(text.utf8)
        return integer(text.count, prefix: 7) + text
    }

    /// RFC 7541 5.1.
    private static func integer(_ value: Int, prefix: Int) -> [UInt8] {
        let most = (1 << prefix) - 1
        guard value >= most else { return [UInt8(value)] }
        var bytes = [UInt8(most)]
        var rest = value - most
        while rest >= 128 {
            bytes.append(UInt8(rest % 128 + 128))
            rest /= 128
        }
        return bytes + [UInt8(rest)]
    }

    package static func bigEndian(_ number: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}

/// A frame as it was received.
package struct H2Frame: Equatable {
    package let type: UInt8
    package let flags: UInt8
    package let stream: UInt32
    package let payload: [UInt8]

    /// The frames in received bytes, and the number of bytes behind the last complete one.
    package static func all(in bytes: [UInt8]) -> (frames: [H2Frame], rest: Int) {
        var frames: [H2Frame] = []
        var position = 0
        while bytes.count - position >= 9 {
            let head = bytes[position..<(position + 9)].map(Int.init)
            let length = head[0] << 16 | head[1] << 8 | head[2]
            guard bytes.count - position - 9 >= length else { break }
            let stream = head[5] << 24 | head[6] << 16 | head[7] << 8 | head[8]
            frames.append(
                H2Frame(
                    type: bytes[position + 3], flags: bytes[position + 4], stream: UInt32(stream),
                    payload: Array(bytes[(position + 9)..<(position + 9 + length)])))
            position += 9 + length
        }
        return (frames, bytes.count - position)
    }

    package func isKind(_ kind: H2Frames.Kind) -> Bool { type == kind.rawValue }

    /// The four bytes at an offset of the payload as a number: an error code, an increment.
    package func number(at offset: Int = 0) -> UInt32 {
        guard payload.count >= offset + 4 else { return .max }
        return payload[offset..<(offset + 4)].reduce(0) { $0 << 8 | UInt32($1) }
    }
}
