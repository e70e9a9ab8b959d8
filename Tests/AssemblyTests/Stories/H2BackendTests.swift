import Basics
import HTTP
import HTTP2
import Reactor
import SimReactor
import TestSupport
import Testing
import WorkerSupport

/// A gateway whose backends use HTTP/2.
@Suite struct H2BackendTests {
    /// The backend of `H2BackendTests.config`.
    private static let address = SocketAddress.ip(.v4(0x7F00_0001), port: 7010)

    private static func config(_ backend: String = "") -> String {
        """
        version: 1
        backends:
          a: { url: "http://127.0.0.1:7010", protocol: http2\(backend) }
          b: { url: "http://127.0.0.1:7001" }
        endpoints:
          - route: GET /x
            calls:
              one: { from: a, get: /1 }
              two: { from: a, get: /2 }
              old: { from: b, get: /3 }
          - route: POST /y
            calls: { made: { from: a, post: /y, body: "{request.body}", required: true } }
          - { route: ANY /p/*, proxy: { to: a } }
        """
    }

    /// The gateway, and its backend, which by default responds with the path in JSON.
    private func harness(
        _ backend: String = "",
        _ script: @escaping (H2BackendExchange) -> Void = { $0.respond("\"\($0.path)\"") }
    ) throws -> (gateway: GatewayHarness, backend: ScriptedH2Backend) {
        let gateway = try GatewayHarness(config: Self.config(backend))
        return (
            gateway, try ScriptedH2Backend(on: gateway.outside, at: Self.address, script)
        )
    }

    @Test func aggregatesOverBothProtocols() throws {
        let (gateway, backend) = try harness()
        let response = try gateway.fetch()
        #expect(response.status == 200)
        #expect(response.body == #"{"one":"/1","two":"/2","old":"/3"}"#)
        #expect(backend.log == ["1 /1", "1 /2"])
        let head = try #require(backend.connections[0].side.streams.first?.request)
        #expect(head.fields[.host] == "127.0.0.1:7010" && head.fields["X-Request-Id"] != nil)
        #expect(head.fields["Gateway-Deadline-Ms"] == "5000")
        backend.close()
        gateway.expectQuiet()
    }

    /// The requests of several clients in one iteration leave together.
    @Test func callsOfSeveralRequestsAreOneWrite() throws {
        let (gateway, backend) = try harness()
        _ = try gateway.fetch()
        let connection = backend.connections[0]
        let before = connection.arrivals.count
        let clients = try (0..<4).map { _ in try gateway.connect() }
        for client in clients { client.send(get()) }
        gateway.testbed.advance(by: .milliseconds(5))
        #expect(connection.arrivals[before...].first == 8)
        #expect(backend.log.count == 10 && backend.connections.count == 1)
        backend.close()
        gateway.expectQuiet()
    }

    /// No check is sent while slow calls use all streams. With one stream more, checks are sent and not
    /// answered, and the host is unhealthy.
    @Test(arguments: [(streams: 3, status: 503), (2, 200)])
    func slowCallsOnAllStreamsMakeNoHostUnhealthy(streams: Int, status: Int) throws {
        let settings = "http2: { max_streams: \(streams), max_connections: 1 }"
        let (gateway, backend) = try harness(
            ", \(settings), health: { path: /up, every: 100ms }")
        gateway.pass(50)
        backend.script = { _ in }
        let slow = try gateway.send(get())
        gateway.pass(1_000)
        backend.script = { $0.respond("1") }
        // It waits for a stream.
        #expect(try gateway.fetch(post("1", to: "/y")).status == status)
        _ = gateway.response(of: slow)
        backend.close()
        gateway.expectQuiet()
    }

    @Test func reportsTheKindOfAFailure() throws {
        let (gateway, backend) = try harness { exchange in
            switch exchange.path {
            case "/1": exchange.reset(.internalError)
            default:
                var frames = H2Frames()
                frames.request([(":status", "200"), ("connection", "close")], on: exchange.id)
                exchange.connection.send(frames)
            }
        }
        let response = try gateway.fetch()
        #expect(response.body.contains(#""call":"one","kind":"connection_terminated""#))
        #expect(response.body.contains(#""call":"two","kind":"http_protocol_error""#))
        backend.close()
        gateway.expectQuiet()
    }

    /// A timeout resets its stream, and no other.
    @Test func timeoutKeepsTheConnection() throws {
        let (gateway, backend) = try harness { exchange in
            if exchange.path != "/1" { exchange.respond("2") }
        }
        let response = try gateway.fetch()
        #expect(response.body.contains(#""call":"one","kind":"http_response_timeout""#))
        #expect(backend.connections[0].count(.reset) == 1 && backend.openCount == 1)
        backend.close()
        gateway.expectQuiet()
    }

    /// A frozen host costs no call after `ping_timeout`.
    @Test func frozenHostIsReplaced() throws {
        let (gateway, backend) = try harness(", http2: { ping_timeout: 1s }")
        _ = try gateway.fetch()
        backend.connections[0].isFrozen = true
        let lost = try gateway.fetch()
        #expect(lost.body.contains("http_response_timeout"))
        #expect(try gateway.fetch().body == #"{"one":"/1","two":"/2","old":"/3"}"#)
        #expect(backend.connections.count == 2)
        gateway.testbed.advance(by: .seconds(2))
        #expect(backend.openCount == 1)
        backend.close()
        gateway.expectQuiet()
    }

    /// Bodies pass in both directions, and trailers to a client that accepts them.
    @Test func passesBodiesThrough() throws {
        let (gateway, backend) = try harness { exchange in
            exchange.recorder.onEnd = {
                let session = exchange.connection.side.session
                guard let stream = exchange.recorder.stream else { return }
                let fields: Fields = ["Content-Type": "text/plain"]
                session.sendResponse(.ok, lines: fields.wireText, on: stream, endsStream: false)
                let body = exchange.recorder.body
                session.sendPiece(body.span, on: stream, at: Instant(nanoseconds: 0))
                session.endBody(of: stream, trailers: ["X-End": "1"])
            }
        }
        let client = ScriptedPeer(try gateway.stream())
        client.send(
            "POST /p/a?b HTTP/1.1\r\nHost: a\r\nTE: trailers\r\nConnection: TE\r\n"
                + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")
        gateway.testbed.advance(by: .milliseconds(5))
        client.send("2\r\nde\r\n0\r\n\r\n")
        gateway.testbed.advance(by: .milliseconds(5))
        let head = try #require(backend.connections[0].side.streams.first?.request)
        #expect("\(head.target)" == "/p/a?b" && head.fields["TE"] == "trailers")
        #expect(client.text.hasPrefix("HTTP/1.1 200 OK\r\n"))
        client.stream.close()
        #expect(client.text.hasSuffix("5\r\nabcde\r\n0\r\nx-end: 1\r\n\r\n"))
        backend.close()
        gateway.expectQuiet()
    }

    @Test func sendsTheBodyOfACall() throws {
        let (gateway, backend) = try harness { exchange in
            exchange.recorder.onEnd = { exchange.respond(exchange.recorder.text) }
        }
        let response = try gateway.fetch(
            "POST /y HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
                + "Content-Length: 7\r\n\r\n{\"a\":1}")
        #expect(response.body == #"{"made":{"a":1}}"#)
        backend.close()
        gateway.expectQuiet()
    }

    /// To the backend many resets look like an attack, so that some streams stay open: the backend may still work
    /// on them.
    @Test func cancelledCallKeepsItsPermitUntilItsStreamEnds() throws {
        let (gateway, backend) = try harness(", max_concurrent: 160, http2: { max_streams: 1000 }")
        {
            exchange in
            if exchange.path != "/p/slow" { exchange.respond("1") }
        }
        backend.limits.streams = 1000
        _ = try gateway.fetch(get("/p/fast"))
        let clients = try (1...150).map { _ in ScriptedPeer(try gateway.stream()) }
        for client in clients { client.send(get("/p/slow")) }
        gateway.pass(5)
        #expect(try gateway.load(of: "a") == "150 running, 0 waiting")
        for client in clients { client.stream.reset() }
        gateway.pass(5)
        // A hundred at once are reset, then twenty in each second.
        #expect(try gateway.load(of: "a") == "50 running, 0 waiting")
        #expect(backend.connections[0].count(.reset) == 100)
        for recorder in backend.connections[0].side.streams.suffix(10) {
            recorder.respond(body: "1")
        }
        backend.connections[0].flush()
        gateway.pass(5)
        #expect(try gateway.load(of: "a") == "40 running, 0 waiting")
        gateway.pass(5000)
        #expect(try gateway.load(of: "a") == "0 running, 0 waiting")
        backend.close()
        gateway.expectQuiet()
    }
}
