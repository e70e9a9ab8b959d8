import Assembly
import Basics
import HTTP
import HTTP2
import Reactor
import SimReactor
import TestSupport
import Testing
import WorkerSupport

/// Calls of gRPC through `proxy`, between HTTP/2 on both sides.
@Suite(.watched) struct GRPCTests {
    private static let fields: Fields = [
        "content-type": "application/grpc", "te": "trailers", "grpc-timeout": "100m",
        "x-metadata": "m", "x-binary-bin": "AAE=",
    ]
    private static let head: Fields = ["content-type": "application/grpc", "x-initial": "i"]
    private static let status: Fields = ["grpc-status": "0", "x-trailing": "t"]

    /// A call that has begun and sends messages, and its exchange at the backend.
    private func open(
        _ harness: H2ProxyHarness, _ client: ScriptedH2Client
    ) throws -> (H2Recorder, H2BackendExchange) {
        let call = try client.send(.post, "/x/Echo", Self.fields, endsStream: false)
        harness.pass()
        return (call, try harness.exchange())
    }

    @Test func metadataAndTrailersPass() throws {
        let harness = try H2ProxyHarness()
        let client = try harness.connect()
        let (call, exchange) = try open(harness, client)
        let head = try #require(exchange.recorder.request)
        #expect(head.method == .post && "\(head.target)" == "/x/Echo")
        for (name, value) in Self.fields {
            let name = try #require(FieldName(name))
            #expect(head.fields[name]?.bytes == value, "\(name)")
        }
        try client.send("request", on: call, ends: true)
        harness.pass()
        #expect(exchange.recorder.text == "request" && exchange.recorder.hasEnded)
        exchange.begin(.ok, Self.head)
        exchange.send("response")
        exchange.end(Self.status)
        harness.pass()
        let response = try #require(call.responses.first)
        #expect(response.status == .ok && response.fields["x-initial"] == "i")
        #expect(response.fields[.contentType] == "application/grpc")
        #expect(call.text == "response" && call.trailers == Self.status)
        #expect(call.closed == .noError && harness.logged("status") == ["200"])
        #expect(harness.logged("outcome") == ["ok"])
        harness.expectQuiet(client)
    }

    /// `TE` is not invented for a client that has not sent it.
    @Test func teIsThatOfTheClient() throws {
        let harness = try H2ProxyHarness()
        let client = try harness.connect()
        _ = try client.send(.get, "/x/a")
        harness.pass()
        let exchange = try harness.exchange()
        #expect(exchange.recorder.request?.fields["te"] == nil)
        exchange.begin(.noContent, ends: true)
        harness.pass()
        harness.expectQuiet(client)
    }

    /// An error of gRPC: its status stands in the head, which ends the stream.
    @Test func responseOfTrailersOnlyPasses() throws {
        let harness = try H2ProxyHarness()
        let client = try harness.connect()
        let (call, exchange) = try open(harness, client)
        exchange.begin(.ok, ["grpc-status": "5", "grpc-message": "not here"], ends: true)
        harness.pass()
        let response = try #require(call.responses.first)
        #expect(response.fields["grpc-status"] == "5")
        #expect(response.fields["grpc-message"] == "not here")
        #expect(call.hasEnded && call.trailers == nil && call.body.isEmpty)
        let heads = client.frames.filter { $0.isKind(.headers) }
        #expect(heads.count == 1 && heads[0].flags & H2Frames.endStream != 0)
        harness.expectQuiet(client)
    }

    /// Each message is answered before the next one is sent.
    @Test func messagesPassInBothDirectionsAtOnce() throws {
        let harness = try H2ProxyHarness()
        let client = try harness.connect()
        let (call, exchange) = try open(harness, client)
        exchange.begin(.ok, Self.head)
        harness.pass()
        #expect(call.responses.count == 1)
        var (up, down) = ("", "")
        for number in 0..<20 {
            up += "ping \(number);"
            try client.send("ping \(number);", on: call)
            harness.pass()
            #expect(exchange.recorder.text == up && !exchange.recorder.hasEnded)
            down += "pong \(number);"
            exchange.send("pong \(number);")
            harness.pass()
            #expect(call.text == down && !call.hasEnded)
        }
        try client.send("", on: call, ends: true)
        harness.pass()
        #expect(exchange.recorder.hasEnded && !call.hasEnded)
        exchange.end(Self.status)
        harness.pass()
        #expect(call.trailers == Self.status && call.closed == .noError)
        harness.expectQuiet(client)
    }

    /// The rest of the request is not needed; both connections stay.
    @Test func backendMayEndTheCallBeforeTheClient() throws {
        let harness = try H2ProxyHarness()
        let client = try harness.connect()
        let (call, exchange) = try open(harness, client)
        try client.send("one", on: call)
        harness.pass()
        exchange.begin(.ok, Self.head)
        exchange.end(["grpc-status": "8"])
        harness.pass()
        #expect(call.trailers == ["grpc-status": "8"] && call.closed == .noError)
        #expect(exchange.recorder.closed == .cancel && harness.logged("outcome") == ["ok"])
        let (next, other) = try open(harness, client)
        other.begin(.ok, Self.status, ends: true)
        harness.pass()
        #expect(next.hasEnded && harness.backend.connections.count == 1)
        harness.expectQuiet(client)
    }

    /// A client that cancels its call ends it at the backend, and only that call.
    @Test(arguments: [false, true]) func cancellationReachesTheBackend(_ hasHead: Bool) throws {
        let harness = try H2ProxyHarness()
        let client = try harness.connect()
        let (call, exchange) = try open(harness, client)
        let (other, second) = try open(harness, client)
        if hasHead {
            exchange.begin(.ok, Self.head)
            exchange.send("one")
            harness.pass()
        }
        try client.reset(call)
        harness.pass(0)
        #expect(exchange.recorder.closed == .cancel)
        if hasHead {
            #expect(harness.logged("end") == ["client_disconnected"])
        } else {
            #expect(harness.logged("status") == ["499"])
        }
        second.begin(.ok, Self.status, ends: true)
        harness.pass()
        #expect(other.hasEnded && harness.backend.openCount == 1)
        harness.expectQuiet(client)
    }

    /// The status was sent, so the line has it.
    @Test func streamThatTheDrainCutsOffIsLogged() throws {
        let harness = try H2ProxyHarness(top: "drain: { timeout: 300ms }")
        let client = try harness.connect()
        let (call, exchange) = try open(harness, client)
        exchange.begin(.ok, Self.head)
        exchange.send("one")
        harness.pass()
        let ended = harness.gateway.drain()
        harness.pass(300)
        #expect(ended() != nil && call.text == "one")
        #expect(harness.logged("status") == ["200"])
        #expect(harness.logged("outcome") == ["truncated"])
        #expect(harness.logged("end") == ["cut_off"])
        harness.expectQuiet(client)
    }

    /// So that the response never looks complete.
    @Test func resetOfTheBackendReachesTheClient() throws {
        let harness = try H2ProxyHarness()
        let client = try harness.connect()
        let (call, exchange) = try open(harness, client)
        exchange.begin(.ok, Self.head)
        exchange.send("one")
        harness.pass()
        exchange.reset(.cancel)
        exchange.connection.flush()
        harness.pass()
        #expect(call.text == "one" && !call.hasEnded && call.closed == .internalError)
        #expect(harness.logged("end") == ["backend_truncated"])
        let (next, other) = try open(harness, client)
        other.begin(.ok, Self.status, ends: true)
        harness.pass()
        #expect(next.hasEnded, "the connection stays")
        harness.expectQuiet(client)
    }

    /// gRPC clients map the status of HTTP where there is none of gRPC.
    @Test func failuresOfTheProxyAreStatusesOfHTTP() throws {
        let harness = try H2ProxyHarness("to: a, timeout: 300ms")
        let client = try harness.connect()
        let (lost, exchange) = try open(harness, client)
        exchange.reset(.internalError)
        exchange.connection.flush()
        harness.pass()
        let (late, _) = try open(harness, client)
        try client.send("", on: late, ends: true)
        harness.pass(400)
        let missing = try client.send(.post, "/none", Self.fields)
        harness.pass()
        let statuses = [lost, late, missing].map { $0.responses.first?.status.code }
        #expect(statuses == [502, 504, 404])
        for call in [lost, late, missing] {
            #expect(call.hasEnded && call.trailers == Fields())
            let fields = try #require(call.responses.first?.fields)
            #expect(fields["grpc-status"] == nil)
            #expect(fields[.contentType] == "application/problem+json")
        }
        harness.expectQuiet(client)
    }

    @Test func idleStreamIsReset() throws {
        let harness = try H2ProxyHarness("to: a, idle_timeout: 2s")
        let client = try harness.connect()
        let (call, exchange) = try open(harness, client)
        exchange.begin(.ok, Self.head)
        for _ in 0..<5 {
            harness.pass(1500)
            try client.send("a", on: call)
            harness.pass(1500)
            exchange.send("b")
        }
        harness.pass(1500)
        #expect(call.closed == nil && call.text == "bbbbb")
        harness.pass(600)
        #expect(call.closed == .internalError && exchange.recorder.closed == .cancel)
        #expect(harness.logged("end") == ["idle"])
        harness.expectQuiet(client)
    }

    /// A message that does not fit any window passes, with little memory.
    @Test func largeMessagesPass() throws {
        let harness = try H2ProxyHarness()
        let client = try harness.connect()
        let (call, exchange) = try open(harness, client)
        let size = 4 * 1024 * 1024
        exchange.begin(.ok, Self.head)
        exchange.send(String(repeating: "y", count: size))
        try client.send(String(repeating: "x", count: size), on: call, ends: true)
        var most = 0
        for _ in 0..<400 where !exchange.recorder.hasEnded || call.body.count < size {
            harness.pass()
            client.flush()
            exchange.connection.flush()
            most = max(most, harness.gateway.instance?.snapshot.bufferedBytes ?? 0)
        }
        #expect(exchange.recorder.body.count == size && call.body.count == size)
        #expect((1...2_000_000).contains(most))
        exchange.end(Self.status)
        harness.pass()
        #expect(call.trailers == Self.status)
        harness.expectQuiet(client)
    }

    /// A call that ends without a message: the end stays behind the head, in a frame of its own, where servers of
    /// gRPC expect it, also if both arrived together.
    @Test(arguments: [false, true]) func emptyStreamStaysAStream(_ isApart: Bool) throws {
        let harness = try H2ProxyHarness()
        let client = try harness.connect()
        let call = try client.side.request(.post, "/x/Echo", Self.fields, endsStream: false)
        if isApart {
            client.flush()
            harness.pass()
        }
        try client.send("", on: call, ends: true)
        harness.pass()
        let exchange = try harness.exchange()
        let head = try #require(exchange.recorder.request)
        #expect(exchange.recorder.hasEnded && head.fields[.contentLength] == nil)
        let frames = exchange.connection.frames.filter { $0.isKind(.headers) || $0.isKind(.data) }
        #expect(frames.map { $0.flags & H2Frames.endStream != 0 } == [false, true])
        #expect(frames.count == 2 && frames[1].isKind(.data))
        // The same in the other direction.
        exchange.begin(.ok, Self.head)
        exchange.end()
        harness.pass()
        let received = client.frames.filter { $0.isKind(.headers) || $0.isKind(.data) }
        #expect(received.map { $0.flags & H2Frames.endStream != 0 } == [false, true])
        #expect(call.responses.first?.fields[.contentLength] == nil && call.hasEnded)
        harness.expectQuiet(client)
    }

    /// A length of 0 ends no stream.
    @Test(arguments: [false, true]) func trailersPassBehindALengthOfZero(_ isApart: Bool) throws {
        let harness = try H2ProxyHarness()
        let client = try harness.connect()
        var (fields, headFields) = (Self.fields, Self.head)
        fields.append(.contentLength, "0")
        headFields.append(.contentLength, "0")
        let call = try client.side.request(.post, "/x/Echo", fields, endsStream: false)
        if isApart {
            client.flush()
            harness.pass()
        }
        try client.send("", on: call, ends: true, trailers: ["x-sum": "1"])
        harness.pass()
        let exchange = try harness.exchange()
        let head = try #require(exchange.recorder.request)
        #expect(exchange.recorder.hasEnded && head.fields[.contentLength] == "0")
        #expect(exchange.trailers == ["x-sum": "1"])
        exchange.begin(.ok, headFields)
        if isApart { harness.pass() }
        exchange.end(["grpc-status": "13"])
        harness.pass()
        #expect(call.responses.first?.fields[.contentLength] == "0")
        #expect(call.trailers == ["grpc-status": "13"] && call.body.isEmpty && call.hasEnded)
        harness.expectQuiet(client)
    }

    /// The control: an end in the head stays there.
    @Test func requestWithoutAStreamEndsInItsHead() throws {
        let harness = try H2ProxyHarness()
        let client = try harness.connect()
        _ = try client.send(.post, "/x/Echo", Self.fields)
        harness.pass()
        let exchange = try harness.exchange()
        let frames = exchange.connection.frames.filter { $0.isKind(.headers) || $0.isKind(.data) }
        #expect(frames.map { $0.flags & H2Frames.endStream != 0 } == [true])
        exchange.begin(.ok, ends: true)
        harness.pass()
        harness.expectQuiet(client)
    }
}
