import Basics
package import HTTP
package import HTTP2
import Reactor
package import SimReactor
import Testing

/// A client with one connection of HTTP/2, by prior knowledge.
package final class ScriptedH2Client {
    package let peer: ScriptedPeer
    package let side: H2Side
    /// Everything that the server sent.
    package private(set) var received: [UInt8] = []
    private unowned let testbed: Testbed

    package init(
        _ peer: ScriptedPeer, on testbed: Testbed, _ limits: H2Limits = H2Limits()
    ) throws {
        self.peer = peer
        self.testbed = testbed
        side = try H2Side(.client, limits)
        peer.onReceived = { [unowned self] peer in
            received += peer.received
            side.receive(peer.received, at: milliseconds)
            peer.clearReceived()
            flush()
        }
        flush()
    }

    private var milliseconds: Int64 { Int64(testbed.ms) }

    /// Sends what the client's session has to send.
    package func flush() {
        side.write(at: milliseconds)
        peer.stream.write(side.takeWritten().span)
    }

    package func send(
        _ method: HTTP.Method = .get, _ path: String = "/", _ fields: Fields = Fields(),
        endsStream: Bool = true
    ) throws -> H2Recorder {
        let recorder = try side.request(method, path, fields, endsStream: endsStream)
        flush()
        return recorder
    }

    /// Opens a WebSocket by an extended CONNECT (RFC 8441 4) with these fields besides the pseudo fields.
    ///
    /// The client's session has sent a GET, whose block is replaced; so no block of it may follow that
    /// refers to its table.
    package func openWebSocket(
        _ path: String = "/", _ fields: [(String, String)] = [], named name: String = "websocket",
        endsStream: Bool = false
    ) throws -> H2Recorder {
        let recorder = try side.request(.get, path, endsStream: endsStream)
        side.write(at: milliseconds)
        let head = [
            (":method", "CONNECT"), (":protocol", name), (":scheme", "http"), (":path", path),
            (":authority", "a"),
        ]
        var frames = H2Frames()
        for frame in H2Frame.all(in: side.takeWritten()).frames {
            let payload =
                frame.isKind(.headers) ? H2Frames.block(head + fields) : frame.payload
            frames.append(type: frame.type, frame.flags, on: frame.stream, payload)
        }
        peer.stream.write(frames.bytes.span)
        return recorder
    }

    /// Sends a piece of a body.
    package func send(
        _ text: String, on request: H2Recorder, ends: Bool = false, trailers: Fields = Fields()
    ) throws {
        let stream = try #require(request.stream)
        side.session.sendPiece(Array(text.utf8).span, on: stream, at: Instant(nanoseconds: 0))
        if ends { side.session.endBody(of: stream, trailers: trailers) }
        flush()
    }

    package func reset(_ request: H2Recorder) throws {
        side.session.reset(try #require(request.stream), .cancel)
        flush()
    }

    /// The frames that the server sent.
    package var frames: [H2Frame] { H2Frame.all(in: received).frames }
}
