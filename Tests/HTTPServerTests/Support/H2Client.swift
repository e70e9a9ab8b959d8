import Basics
import HTTP
import HTTP2
import Promises
import Reactor
import SimReactor
import TestSupport
import Testing

@testable import HTTPServer

/// A client of HTTP/2 with prior knowledge in a server's harness.
final class H2Client {
    let peer: ScriptedPeer
    let side: H2Side
    /// Everything that the server sent.
    private(set) var received: [UInt8] = []
    private unowned let harness: ServerHarness

    init(_ harness: ServerHarness, _ limits: H2Limits = H2Limits()) throws {
        self.harness = harness
        side = try H2Side(.client, limits)
        peer = try harness.connect()
        peer.onReceived = { [unowned self] peer in
            received += peer.received
            side.receive(peer.received, at: Int64(harness.ms))
            peer.clearReceived()
            flush()
        }
        flush()
    }

    /// Sends what the client's session has to send.
    func flush() {
        side.write(at: Int64(harness.ms))
        peer.stream.write(side.takeWritten().span)
    }

    func send(
        _ method: HTTP.Method = .get, _ path: String = "/", _ fields: Fields = Fields(),
        endsStream: Bool = true
    ) throws -> H2Recorder {
        let recorder = try side.request(method, path, fields, endsStream: endsStream)
        flush()
        return recorder
    }

    /// Sends a piece of a body.
    func send(_ text: String, on request: H2Recorder, ends: Bool = false) throws {
        let stream = try #require(request.stream)
        side.session.sendPiece(Array(text.utf8).span, on: stream, at: Instant(nanoseconds: 0))
        if ends { side.session.endBody(of: stream, trailers: Fields()) }
        flush()
    }

    func reset(_ request: H2Recorder) throws {
        side.session.reset(try #require(request.stream), .cancel)
        flush()
    }

    /// The frames that the server sent.
    var frames: [H2Frame] { H2Frame.all(in: received).frames }
}

extension ServerHarness {
    /// A server that also takes HTTP/2 without TLS.
    static func http2(
        _ settings: ServerSettings = ServerSettings(),
        protocols: Set<ApplicationProtocol> = [.http1, .http2],
        service: @escaping (ServerHarness, Request, Exchange) -> LocalPromise<Response> =
            ServerHarness.echo
    ) throws -> ServerHarness {
        var listener = ListenerSettings()
        listener.protocols = protocols
        return try ServerHarness(settings, listeners: [listener], service: service)
    }
}

extension ScriptedPeer {
    /// Sends frames that were written by hand.
    func send(_ frames: H2Frames) { stream.write(frames.bytes.span) }

    /// The frames that the server sent.
    var frames: [H2Frame] { H2Frame.all(in: received).frames }

    /// The last GOAWAY: its stream and its code.
    var goAway: [UInt32]? {
        frames.last { $0.isKind(.goAway) }.map { [$0.number(), $0.number(at: 4)] }
    }

    /// The streams that were reset, and their codes.
    var resets: [[UInt32]] {
        frames.filter { $0.isKind(.reset) }.map { [$0.stream, $0.number()] }
    }
}

extension H2Recorder {
    /// `200 body`, `431`, or the code of a reset.
    var summary: String {
        guard let response = responses.last else {
            return closed.map { "reset \($0.number)" } ?? "-"
        }
        let isProblem = response.fields[.contentType]?.description == "application/problem+json"
        let body = isProblem || text.isEmpty ? "" : " \(text)"
        let end = !hasEnded ? "..." : ""
        return "\(response.status)\(body)\(end)"
    }
}
