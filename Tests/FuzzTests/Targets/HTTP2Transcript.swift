/// The frames that a server has sent on a connection, and whether they are valid in this order
/// (RFC 9113 4.1, 5.1, 8.1).
struct HTTP2Transcript {
    /// Such as `SETTINGS ack`, `HEADERS 1 end`, `RST_STREAM 3 7`, `GOAWAY 11`: the stream unless it
    /// is 0, then the code of an error.
    private(set) var frames: [String] = []
    /// What is wrong; nil if nothing is.
    private(set) var violation: String?
    private var states: [UInt32: State] = [:]

    private enum State {
        /// The head of the response was sent.
        case open
        case ended
        case reset
    }

    private static let names = [
        "DATA", "HEADERS", "PRIORITY", "RST_STREAM", "SETTINGS", "PUSH_PROMISE", "PING", "GOAWAY",
        "WINDOW_UPDATE", "CONTINUATION",
    ]
    private static let headBytes = 9
    /// What a receiver takes unless its settings state another size (RFC 9113 6.5.2).
    private static let payloadBytesMax = 16_384

    /// - Parameter bytes: of a connection with HTTP/2; the last frame may be incomplete
    init(_ bytes: [UInt8]) {
        var position = 0
        while bytes.count - position >= Self.headBytes {
            let length = Int(Self.number(bytes[position..<(position + 3)]))
            let start = position + Self.headBytes
            if length > Self.payloadBytesMax { violation = "a frame of \(length) bytes" }
            guard bytes.count - start >= length else { return }
            read(bytes[position..<start], bytes[start..<(start + length)])
            position = start + length
        }
    }

    private mutating func read(_ head: ArraySlice<UInt8>, _ payload: ArraySlice<UInt8>) {
        let type = Int(head[head.startIndex + 3])
        let flags = head[head.startIndex + 4]
        let stream = Self.number(head.suffix(4))
        guard type < Self.names.count else {
            violation = "a frame of type \(type)"
            return
        }
        let name = Self.names[type]
        var words = [name]
        if stream > 0 { words.append("\(stream)") }
        switch name {
        case "DATA", "HEADERS":
            let ends = flags & 1 != 0
            if ends { words.append("end") }
            responseSent(on: stream, isHead: name == "HEADERS", ends: ends)
        case "RST_STREAM":
            words.append("\(Self.number(payload))")
            states[stream] = .reset
        case "GOAWAY": words.append("\(Self.number(payload.dropFirst(4).prefix(4)))")
        case "SETTINGS" where flags & 1 != 0, "PING" where flags & 1 != 0: words.append("ack")
        case "PUSH_PROMISE", "PRIORITY": violation = name
        default: break
        }
        if frames.isEmpty, words != ["SETTINGS"] { violation = "\(words) comes first" }
        frames.append(words.joined(separator: " "))
    }

    private mutating func responseSent(on stream: UInt32, isHead: Bool, ends: Bool) {
        if stream % 2 == 0 { violation = "a response on stream \(stream)" }
        switch states[stream] {
        case nil where !isHead: violation = "a body before its head on stream \(stream)"
        case .ended: violation = "a response behind its end on stream \(stream)"
        case .reset: violation = "a response behind RST_STREAM on stream \(stream)"
        case .open, nil: break
        }
        states[stream] = ends ? .ended : .open
    }

    /// Big-endian.
    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        bytes.reduce(0) { $0 << 8 | UInt32($1) }
    }
}
