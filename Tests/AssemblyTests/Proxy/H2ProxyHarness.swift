import Basics
import HTTP
import HTTP2
import Reactor
import SimReactor
import TestSupport
import Testing
import WorkerSupport

/// A gateway whose endpoints pass requests through between HTTP/2 on both sides. The test controls the
/// client and the backend `a`.
final class H2ProxyHarness {
    let gateway: GatewayHarness
    let backend: ScriptedH2Backend
    /// The requests that reached the backend, in their order.
    private(set) var exchanges: [H2BackendExchange] = []

    /// - Parameters:
    ///   - proxy: the keys of `proxy`, in flow style
    ///   - endpoint: more lines of the endpoint
    ///   - backend: more of the backend, in flow style, with its comma
    ///   - top: more lines of the file
    init(
        _ proxy: String = "to: a", endpoint: String = "", backend: String = "", top: String = "",
        files: [String: String] = [:]
    ) throws {
        let config = """
            version: 1
            listen: { address: "127.0.0.1:8080", protocols: [http2, http1] }
            \(top)
            backends:
              a: { url: "http://127.0.0.1:7010", protocol: http2\(backend) }
            endpoints:
              - route: ANY /x/*
            \(endpoint.indented(4))
                proxy: { \(proxy) }
            """
        gateway = try GatewayHarness(config: config, files: files)
        self.backend = try ScriptedH2Backend(
            on: gateway.outside, at: .ip(.v4(0x7F00_0001), port: 7010)
        ) { _ in }
        self.backend.script = { [unowned self] in exchanges.append($0) }
    }

    /// A new connection with HTTP/2.
    func connect() throws -> ScriptedH2Client {
        try ScriptedH2Client(ScriptedPeer(gateway.stream()), on: gateway.testbed)
    }

    /// The last request at the backend.
    func exchange(_ location: SourceLocation = #_sourceLocation) throws -> H2BackendExchange {
        try #require(exchanges.last, sourceLocation: location)
    }

    func pass(_ milliseconds: Double = 1) { gateway.pass(milliseconds) }

    /// The values of a key in the lines of the log.
    func logged(_ key: String) -> [String] { gateway.logged(key) }

    /// Ends the backend and the clients, and expects that nothing is left.
    func expectQuiet(
        _ clients: ScriptedH2Client..., location: SourceLocation = #_sourceLocation
    ) {
        for client in clients { client.peer.stream.close() }
        pass()
        backend.close()
        gateway.expectQuiet(location)
    }
}

extension H2BackendExchange {
    private var session: H2Session { connection.side.session }

    /// The trailers of the request; nil before its end.
    var trailers: Fields? { recorder.trailers }

    /// Sends the head of the response.
    func begin(_ status: Status = .ok, _ fields: Fields = Fields(), ends: Bool = false) {
        guard let stream = recorder.stream else { return }
        session.sendResponse(status, lines: fields.wireText, on: stream, endsStream: ends)
        connection.flush()
    }

    /// Sends a piece of the response.
    func send(_ text: String) {
        guard let stream = recorder.stream else { return }
        session.sendPiece(Array(text.utf8).span, on: stream, at: Instant(nanoseconds: 0))
        connection.flush()
    }

    /// Ends the response.
    func end(_ trailers: Fields = Fields()) {
        guard let stream = recorder.stream else { return }
        session.endBody(of: stream, trailers: trailers)
        connection.flush()
    }
}
