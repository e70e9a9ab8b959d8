import Basics
package import HTTP
package import HTTP2
import Testing

/// One side of a connection in memory: a session, what it wrote, and what happened.
package final class H2Side: H2SessionEvents {
    package let session: H2Session
    /// Written, and not received by the other side.
    package var written: [UInt8] = []
    /// What happened, except on streams that have a recorder.
    package private(set) var log: [String] = []
    package private(set) var streams: [H2Recorder] = []
    package var onRequest: (H2Recorder) -> Void = { _ in }

    package init(_ role: H2Session.Role, _ limits: H2Limits = H2Limits()) throws {
        session = try #require(H2Session(role, limits, at: Instant(nanoseconds: 0)))
        session.events = self
    }

    package func requestReceived(
        _ stream: H2Stream, _ head: Result<RequestHead, WireError>, endsStream: Bool
    ) {
        let recorder = H2Recorder(stream, self)
        stream.handler = recorder
        streams.append(recorder)
        switch head {
        case .success(let head):
            recorder.request = head
            log.append("\(stream.id) \(head.method) \(head.target)\(endsStream ? " end" : "")")
        case .failure(let error): log.append("\(stream.id) \(error)")
        }
        onRequest(recorder)
    }

    package func invalidFrameReceived() { log.append("invalid") }
    package func pongReceived() { log.append("pong") }
    package func goAwayReceived(lastID: Int32, _ code: H2Code) {
        log.append("goaway \(lastID) \(code.number)")
    }

    package func writeFrames(_ head: Span<UInt8>, _ body: Span<UInt8>) {
        written.append(copying: head)
        written.append(copying: body)
    }

    /// Receives bytes, in pieces of this size, and writes.
    package func receive(_ bytes: [UInt8], piece: Int = .max, at ms: Int64 = 0) {
        let now = Instant(nanoseconds: ms * 1_000_000)
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = Array(rest.prefix(piece))
            rest = rest.dropFirst(piece)
            session.receive(part.span, at: now)
        }
        write(at: ms)
    }

    package func write(atMost limit: Int = 1 << 20, at ms: Int64 = 0) {
        session.writePending(atMost: limit, at: Instant(nanoseconds: ms * 1_000_000))
    }

    /// What was written since the last call.
    package func takeWritten() -> [UInt8] {
        defer { written = [] }
        return written
    }

    /// The frames that were written since the last call.
    package func takeFrames() -> [H2Frame] { H2Frame.all(in: takeWritten()).frames }

    package func request(
        _ method: HTTP.Method = .get, _ path: String = "/", _ fields: Fields = Fields(),
        endsStream: Bool = true
    ) throws -> H2Recorder {
        let recorder = H2Recorder(nil, self)
        let target = try #require(Target(path))
        recorder.stream = session.sendRequest(
            H2RequestLine(method, target, authority: "a", isSecure: false), lines: fields.wireText,
            endsStream: endsStream, handler: recorder, at: Instant(nanoseconds: 0))
        return recorder
    }
}

/// Records what happens on one stream.
package final class H2Recorder: H2StreamEvents {
    package var stream: H2Stream?
    package unowned let side: H2Side
    package var request: RequestHead?
    package private(set) var responses: [ResponseHead] = []
    package private(set) var body: [UInt8] = []
    package private(set) var trailers: Fields?
    package private(set) var hasEnded = false
    package private(set) var closed: H2Code?
    package private(set) var drained = 0
    package private(set) var hasSentEnd = false
    /// Returns credit at once.
    package var consumes = true
    /// Called at the end of what the peer sends.
    package var onEnd: () -> Void = {}

    package init(_ stream: H2Stream?, _ side: H2Side) {
        self.stream = stream
        self.side = side
    }

    package var text: String { String(decoding: body, as: UTF8.self) }

    package func responseReceived(_ head: ResponseHead, endsStream: Bool) {
        responses.append(head)
        if endsStream { hasEnded = true }
    }

    package func dataReceived(_ piece: Span<UInt8>) {
        body.append(copying: piece)
        if consumes, let stream { side.session.didConsume(piece.count, on: stream) }
    }

    package func bodyEnded(trailers: Fields) {
        hasEnded = true
        self.trailers = trailers
        onEnd()
    }

    package func outputDrained() { drained += 1 }
    package func outputEnded() { hasSentEnd = true }
    package func streamClosed(_ code: H2Code, isReset: Bool) { closed = code }

    package func respond(_ status: Status = .ok, _ fields: Fields = Fields(), body: String = "") {
        guard let stream else { return }
        side.session.sendResponse(
            status, lines: fields.wireText, on: stream, endsStream: body.isEmpty)
        if !body.isEmpty {
            side.session.sendBody(Bytes(body), on: stream, at: Instant(nanoseconds: 0))
        }
    }
}
