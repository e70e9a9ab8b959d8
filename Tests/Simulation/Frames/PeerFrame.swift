/// A frame of HTTP/2 as simulated peers write and read it (RFC 9113 4.1), with code of their own, so
/// that the gateway's engine does not check what it wrote itself.
struct PeerFrame {
    enum Kind: UInt8 {
        case data, headers, priority, reset, settings, pushPromise, ping, goAway, windowUpdate,
            continuation
    }

    var type: UInt8
    var flags: UInt8 = 0
    var stream: Int
    var payload: [UInt8] = []

    init(type: UInt8, flags: UInt8 = 0, on stream: Int, _ payload: [UInt8] = []) {
        self.type = type
        self.flags = flags
        self.stream = stream
        self.payload = payload
    }

    init(_ kind: Kind, flags: UInt8 = 0, on stream: Int, _ payload: [UInt8] = []) {
        self.init(type: kind.rawValue, flags: flags, on: stream, payload)
    }

    static let endStream: UInt8 = 0x1
    static let acknowledgement: UInt8 = 0x1
    static let endHeaders: UInt8 = 0x4
    static let padded: UInt8 = 0x8
    static let priority: UInt8 = 0x20

    /// What a client sends first (RFC 9113 3.4).
    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)
    /// The head of a frame, in bytes.
    static let headBytes = 9
    /// SETTINGS_MAX_FRAME_SIZE, in bytes, unless a peer states another one.
    static let payloadMax = 16_384
    /// The window of a stream and of a connection before it is changed, in bytes (RFC 9113 6.9.2).
    static let defaultWindow = 65_535
    /// The highest id of a stream.
    static let highestID = 0x7FFF_FFFF

    /// Nil for a frame of an extension.
    var kind: Kind? { Kind(rawValue: type) }

    func has(_ flag: UInt8) -> Bool { flags & flag != 0 }

    /// All its bytes.
    var bytes: [UInt8] {
        Self.bigEndian(payload.count).dropFirst() + [type, flags] + Self.bigEndian(stream)
            + payload
    }

    /// The four bytes at an offset of the payload as a number; nil if there are fewer.
    func number(at offset: Int = 0) -> Int? {
        guard payload.count >= offset + 4 else { return nil }
        return payload[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
    }

    /// The payload without padding and without the fields of a priority; nil if that is malformed.
    var content: [UInt8]? {
        var content = payload[...]
        if has(Self.padded) {
            guard let count = content.popFirst(), Int(count) <= content.count else { return nil }
            content = content.dropLast(Int(count))
        }
        if kind == .headers, has(Self.priority) {
            guard content.count >= 5 else { return nil }
            content = content.dropFirst(5)
        }
        return Array(content)
    }

    static func bigEndian(_ number: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}

extension PeerFrame {
    /// The numbers of settings (RFC 9113 6.5.2).
    enum Setting: Int {
        case headerTableSize = 1
        case enablePush, streamsMax, initialWindow, payloadMax, headerBytesMax
    }

    static func settings(_ values: [(Setting, Int)]) -> PeerFrame {
        PeerFrame(
            .settings, on: 0,
            values.flatMap { bigEndian($0.rawValue).suffix(2) + bigEndian($1) })
    }

    static func reset(_ stream: Int, rawCode: Int) -> PeerFrame {
        PeerFrame(.reset, on: stream, bigEndian(rawCode))
    }

    static func goAway(lastID: Int, _ code: PeerCode) -> PeerFrame {
        PeerFrame(.goAway, on: 0, bigEndian(lastID) + bigEndian(code.rawValue))
    }

    static func windowUpdate(_ increment: Int, on stream: Int) -> PeerFrame {
        PeerFrame(.windowUpdate, on: stream, bigEndian(increment))
    }
}

/// Why a stream or a connection ends (RFC 9113 7).
enum PeerCode: Int {
    case noError = 0
    case protocolError = 1
    case internalError = 2
    case refusedStream = 7
    case cancel = 8
    case enhanceYourCalm = 11
}
