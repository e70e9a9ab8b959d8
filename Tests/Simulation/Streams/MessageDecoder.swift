import Rehearsal

/// Reads HTTP/1.1 messages piece by piece, as simulated peers do: strictly, and with code of its own.
struct MessageDecoder {
    enum Side { case requests, responses }

    enum Event {
        case interim(PeerMessage)
        case head(PeerMessage)
        case body([UInt8])
        /// The message is complete.
        case end(trailers: [(name: String, value: String)])
        case broken(String)
    }

    private enum State {
        case head
        case body(remaining: Int)
        case chunkSize
        case chunk(remaining: Int)
        case chunkEnd
        case trailers
        case untilClose
        case broken
    }

    private let side: Side
    private var state = State.head
    private var rest: [UInt8] = []
    /// Position of the first byte of `rest` among all bytes of the connection.
    private(set) var position = 0
    /// The request whose response is read has the method HEAD.
    var isResponseToHead = false

    init(_ side: Side) { self.side = side }

    /// Whether the bytes of the body end with the connection.
    var endsWithConnection: Bool { if case .untilClose = state { true } else { false } }

    /// What follows is not HTTP: it is delivered as a body until the connection ends.
    mutating func switchProtocol() { state = .untilClose }

    mutating func receive(_ bytes: [UInt8], _ handle: (Event, Int) -> Void) {
        rest += bytes
        var used = 0
        while let (event, count) = next(rest[used...]) {
            used += count
            if let event { handle(event, position + used) }
        }
        rest.removeFirst(used)
        position += used
    }

    /// The next event and its bytes; nil if more are needed.
    private mutating func next(_ bytes: ArraySlice<UInt8>) -> (Event?, Int)? {
        switch state {
        case .broken: return bytes.isEmpty ? nil : (nil, bytes.count)
        case .head: return nextHead(bytes)
        case .body(remaining: 0):
            state = .head
            return (.end(trailers: []), 0)
        case .body(let remaining):
            return part(of: bytes, remaining) { .body(remaining: $0) }
        case .chunk(let remaining):
            return part(of: bytes, remaining) { $0 == 0 ? .chunkEnd : .chunk(remaining: $0) }
        case .untilClose: return bytes.isEmpty ? nil : (.body(Array(bytes)), bytes.count)
        case .chunkSize:
            guard let line = Self.line(bytes) else { return nil }
            guard let size = Int(line, radix: 16), size >= 0, !line.hasPrefix("+") else {
                return fail("a chunk size that is none: \(line)", bytes)
            }
            state = size == 0 ? .trailers : .chunk(remaining: size)
            return (nil, line.utf8.count + 2)
        case .chunkEnd:
            guard let line = Self.line(bytes) else { return nil }
            guard line.isEmpty else { return fail("bytes behind a chunk: \(line)", bytes) }
            state = .chunkSize
            return (nil, 2)
        case .trailers: return nextTrailers(bytes)
        }
    }

    private mutating func fail(_ why: String, _ bytes: ArraySlice<UInt8>) -> (Event?, Int) {
        state = .broken
        return (.broken(why), bytes.count)
    }

    private mutating func part(
        of bytes: ArraySlice<UInt8>, _ remaining: Int, then state: (Int) -> State
    ) -> (Event?, Int)? {
        let count = min(remaining, bytes.count)
        guard count > 0 else { return nil }
        self.state = state(remaining - count)
        return (.body(Array(bytes.prefix(count))), count)
    }

    private mutating func nextHead(_ bytes: ArraySlice<UInt8>) -> (Event?, Int)? {
        guard !bytes.isEmpty else { return nil }
        switch PeerMessage.readHead(Array(bytes)) {
        case .needsMore: return nil
        case .broken(let why): return fail(why, bytes)
        case .message(let message):
            if side == .responses, (100..<200).contains(message.status), message.status != 101 {
                return (.interim(message), message.length)
            }
            guard let framing = framing(of: message) else {
                return fail("an ambiguous length", bytes)
            }
            state = framing
            return (.head(message), message.length)
        }
    }

    /// How the body ends (RFC 9112 6.3); nil if that is ambiguous.
    private func framing(of message: PeerMessage) -> State? {
        let lengths = message.all("Content-Length")
        let codings = message.all("Transfer-Encoding")
        guard lengths.count + codings.count <= 1 else { return nil }
        if side == .responses {
            if message.status == 101 { return .untilClose }
            if isResponseToHead || message.status == 204 || message.status == 304 {
                return .body(remaining: 0)
            }
        }
        if let coding = codings.first { return coding == "chunked" ? .chunkSize : nil }
        if let length = lengths.first {
            return Int(length).flatMap { $0 >= 0 ? .body(remaining: $0) : nil }
        }
        return side == .requests ? .body(remaining: 0) : .untilClose
    }

    private mutating func nextTrailers(_ bytes: ArraySlice<UInt8>) -> (Event?, Int)? {
        var fields: [(name: String, value: String)] = []
        var used = 0
        while let line = Self.line(bytes.dropFirst(used)) {
            used += line.utf8.count + 2
            if line.isEmpty {
                state = .head
                return (.end(trailers: fields), used)
            }
            let name = line.prefix { $0 != ":" }
            guard name.count < line.count else { return fail("a trailer: \(line)", bytes) }
            fields.append((String(name), line.dropFirst(name.count + 1).trimmed))
        }
        return nil
    }

    /// A line without its CRLF; nil until it is complete.
    private static func line(_ bytes: ArraySlice<UInt8>) -> String? {
        guard let end = bytes.firstIndex(of: 0x0A), end > bytes.startIndex, bytes[end - 1] == 0x0D
        else { return nil }
        return String(decoding: bytes[bytes.startIndex..<end - 1], as: UTF8.self)
    }
}

extension Substring {
    fileprivate var trimmed: String {
        String(drop { $0 == " " })
    }
}
