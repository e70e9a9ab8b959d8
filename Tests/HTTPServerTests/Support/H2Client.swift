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
typealias H2Client = ScriptedH2Client

extension ScriptedH2Client {
    convenience init(_ harness: ServerHarness, _ limits: H2Limits = H2Limits()) throws {
        try self.init(harness.connect(), on: harness.testbed, limits)
    }
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
