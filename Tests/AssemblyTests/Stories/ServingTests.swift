import TestSupport
import Testing
import WorkerSupport

/// Requests of clients: routes, methods, limits, connections.
@Suite(.watched) struct ServingTests {
    static let call = "one: { from: a, get: /1 }"

    // MARK: Routes and methods

    @Test func headIsGetWithoutTheBody() throws {
        let harness = try GatewayHarness(Self.call)
        let client = try harness.send(request("HEAD", "/x"))
        let head = harness.response(of: client)
        client.send(get())
        let body = harness.response(of: client)
        #expect(head.status == 200)
        #expect(head["Content-Length"] == "\(body.body.utf8.count)")
        #expect(head["Content-Type"] == body["Content-Type"])
        #expect(body.summary == #"200 at 0 {"one":"/1"}"#)
        harness.expectQuiet()
    }

    @Test func callUsesItsOwnMethod() throws {
        let harness = try GatewayHarness(Self.call)
        _ = try harness.fetch(request("HEAD", "/x"))
        #expect(harness.events == ["0 GET /1"])
        harness.expectQuiet()
    }

    @Test(arguments: ["/", "/X", "/x/", "/x/y", "/y"]) func anUnknownPathIs404(_ target: String)
        throws
    {
        let harness = try GatewayHarness(Self.call)
        let response = try harness.fetch(get(target, "X-Request-Id: abc"))
        #expect(response.outcome == "404 at 0")
        #expect(
            response.body
                == #"{"type":"about:blank","title":"Not Found","status":404,"instance":"abc"}"#)
        #expect(response["Gateway-Complete"] == nil)
        harness.expectQuiet()
    }

    @Test(arguments: ["POST", "DELETE", "PATCH", "BREW"]) func anotherMethodIs405(_ method: String)
        throws
    {
        let harness = try GatewayHarness(Self.call)
        let response = try harness.fetch(request(method, "/x"))
        #expect(response.outcome == "405 at 0")
        #expect(response["Allow"] == "GET, HEAD")
        harness.expectQuiet()
    }

    @Test func invalidRequestListsAllErrors() throws {
        let harness = try GatewayHarness(
            Self.call,
            endpoint:
                "params: { id: { type: integer, required: true }, lang: { one_of: [en, de] } }")
        let response = try harness.fetch(get("/x?lang=fr", "X-Request-Id: abc"))
        #expect(
            response.body
                == #"{"type":"about:blank","title":"Bad Request","status":400,"instance":"abc","#
                + #""errors":[{"in":"query","name":"id","reason":"is required"},"#
                + #"{"in":"query","name":"lang","reason":"must be one of en, de"}]}"#)
        #expect(response["Gateway-Complete"] == nil)
        #expect(harness.events == [])
        harness.expectQuiet()
    }

    // MARK: Limits

    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        var limits = ""
        let text: String
        let status: Int

        var testDescription: String { name }
    }

    static let rows: [Row] = [
        Row(name: "not HTTP", text: "what?\r\n\r\n", status: 400),
        Row(name: "no host", text: "GET /x HTTP/1.1\r\n\r\n", status: 400),
        Row(
            name: "head too large", limits: "header_bytes: 1KiB",
            text: get("/x", "X: \(String(repeating: "x", count: 1024))"), status: 431),
        Row(
            name: "too many lines", limits: "header_count: 3",
            text: get("/x", "A: 1", "B: 2", "C: 3"), status: 431),
        Row(
            name: "target too long", limits: "uri_bytes: 1KiB",
            text: get("/x?\(String(repeating: "x", count: 1024))"), status: 414),
        Row(
            name: "body too large", text: request("POST", "/y", ["Content-Length: 9999999"]),
            status: 413),
    ]

    @Test(arguments: rows) func requestBeyondALimitIsRefused(_ row: Row) throws {
        let harness = try GatewayHarness(
            Self.call, endpoint: row.status == 413 ? "route: POST /y" : "",
            top: row.limits.isEmpty ? "" : "limits: { \(row.limits) }")
        let response = try harness.fetch(row.text)
        #expect(response.outcome == "\(row.status) at 0")
        #expect(response["Content-Type"] == "application/problem+json")
        harness.expectQuiet()
    }

    @Test func aSlowHeadIs408() throws {
        let harness = try GatewayHarness(Self.call, top: "limits: { header_timeout: 2s }")
        let client = try harness.send("GET /x HTTP/1.1\r\n")
        #expect(harness.response(of: client).outcome == "408 at 2000")
        harness.expectQuiet()
    }

    @Test func aSlowBodyIs408() throws {
        let harness = try GatewayHarness(
            "one: { from: a, post: /1 }", endpoint: "route: POST /x",
            top: "limits: { body_timeout: 3s }")
        let client = try harness.send(request("POST", "/x", ["Content-Length: 5"]) + "1")
        #expect(harness.response(of: client).status == 408)
        #expect(harness.ms == 3000)
        #expect(harness.events == [])
        harness.expectQuiet()
    }

    @Test func moreRequestsInFlightThanAllowedAre503() throws {
        let harness = try GatewayHarness(Self.call, top: "limits: { requests_in_flight: 2 }")
        harness.on("/1", .ok("1", after: 100))
        let clients = try (1...2).map { _ in try harness.send(get()) }
        let response = try harness.fetch()
        #expect(response.outcome == "503 at 0")
        #expect(response["Retry-After"] == "1")
        harness.pass(100)
        #expect(clients.map { $0.responses.first?.status } == [200, 200])
        #expect(try harness.fetch().status == 200)
        harness.expectQuiet()
    }

    /// The request does not reach its endpoint, and is counted for it nevertheless.
    @Test func requestThatALimitRefusesIsThatOfItsEndpoint() throws {
        let harness = try GatewayHarness(Self.call, top: "limits: { requests_in_flight: 1 }")
        harness.on("/1", .ok("1", after: 100))
        let first = try harness.send(get())
        harness.pass(1)
        #expect(try harness.fetch(get()).status == 503)
        #expect(try harness.fetch(get("/y")).status == 503)
        #expect(harness.logged("endpoint") == ["GET /x"])
        #expect(harness.responseCounts == ["GET /x: 503 once", "elsewhere: 503 once"])
        #expect(harness.response(of: first).status == 200)
        harness.expectQuiet()
    }

    @Test func moreRequestsOfAnEndpointThanAllowedAre503() throws {
        let harness = try GatewayHarness(Self.call, endpoint: "max_in_flight: 2")
        harness.on("/1", .ok("1", after: 100))
        let clients = try (1...2).map { _ in try harness.send(get()) }
        let response = try harness.fetch()
        #expect(response.outcome == "503 at 0")
        #expect(response["Retry-After"] == "1")
        harness.pass(100)
        #expect(clients.map { $0.responses.first?.status } == [200, 200])
        #expect(try harness.fetch().status == 200)
        harness.expectQuiet()
    }

    @Test func disconnectedClientReleasesItsPermit() throws {
        let harness = try GatewayHarness(Self.call, endpoint: "max_in_flight: 1")
        harness.on("/1", .hangs, .ok("1"))
        let client = try harness.send(get())
        harness.pass(10)
        client.reset()
        harness.pass(1)
        #expect(try harness.fetch().status == 200)
        harness.expectQuiet()
    }

    @Test func moreConnectionsThanAllowedReceive503() throws {
        let harness = try GatewayHarness(Self.call, top: "limits: { connections: 2 }")
        harness.on("/1", .ok("1", after: 100))
        _ = try harness.send(get())
        _ = try harness.send(get())
        harness.pass(10)
        let third = try harness.connect()
        #expect(harness.response(of: third).status == 503)
        #expect(third.isClosed)
        harness.expectQuiet()
    }

    @Test func newConnectionReplacesAnIdleOne() throws {
        let harness = try GatewayHarness(Self.call, top: "limits: { connections: 2 }")
        let first = try harness.connect()
        harness.pass(10)
        let second = try harness.connect()
        harness.pass(245)
        #expect(try harness.fetch().status == 200)
        #expect(first.isClosed && !second.isClosed)
        harness.expectQuiet()
    }

    @Test func moreConnectionsOfAClientThanAllowedReceive503() throws {
        let harness = try GatewayHarness(Self.call, top: "limits: { connections_per_client: 2 }")
        _ = try harness.connect()
        let second = try harness.connect()
        let third = try harness.connect()
        #expect(harness.response(of: third).status == 503)
        second.leave()
        third.leave()
        harness.pass(10)
        #expect(try harness.fetch().status == 200)
        harness.expectQuiet()
    }

    /// Connections that were open before the limit was set count, too, and stay open.
    @Test func aReloadLimitsTheNextConnectionsOfAClient() throws {
        let harness = try GatewayHarness(Self.call)
        let open = try (0..<5).map { _ in try harness.connect() }
        try harness.install(
            GatewayHarness.text(Self.call, "", "", "limits: { connections_per_client: 5 }"))
        #expect(try harness.fetch().status == 503)
        open[0].leave()
        harness.pass(10)
        #expect(try harness.fetch().status == 200)
        open[1].send(get())
        #expect(harness.response(of: open[1]).status == 200)
        harness.expectQuiet()
    }

    @Test func anIdleConnectionIsClosed() throws {
        let harness = try GatewayHarness(Self.call, top: "limits: { idle_timeout: 5s }")
        let client = try harness.send(get())
        _ = harness.response(of: client)
        harness.pass(4999)
        let isOpen = !client.isClosed
        harness.pass(1)
        #expect(isOpen && client.isClosed)
        harness.expectQuiet()
    }

    // MARK: Connections

    @Test func aConnectionServesManyRequests() throws {
        let harness = try GatewayHarness(Self.call)
        let client = try harness.send(get())
        for count in 1...3 {
            #expect(harness.response(of: client).status == 200)
            #expect(client.responses.count == count)
            client.send(get())
        }
        harness.expectQuiet()
    }

    @Test func pipelinedRequestsAreAnsweredInTheirOrder() throws {
        let harness = try GatewayHarness(
            #"one: { from: a, get: "/{n}" }"#, endpoint: "params: { n: { type: string } }")
        harness.on("/1", .ok("1", after: 50))
        harness.on("/2", .ok("2", after: 10))
        let client = try harness.send(
            get("/x?n=1") + get("/x?n=2") + get("/nowhere") + get("/x?n=3"))
        harness.pass(100)
        #expect(client.responses.map(\.status) == [200, 200, 404, 200])
        #expect(client.responses.map(\.ms) == [50, 60, 60, 60])
        #expect(harness.events == ["0 GET /1", "50 GET /2", "60 GET /3"])
        harness.expectQuiet()
    }

    @Test func closeIsHonoured() throws {
        let harness = try GatewayHarness(Self.call)
        let client = try harness.send(get("/x", "Connection: close"))
        let response = harness.response(of: client)
        #expect(response.status == 200)
        #expect(response["Connection"] == "close")
        #expect(client.isClosed)
        harness.expectQuiet()
    }

    @Test func sends100ContinueWhenTheBodyIsRead() throws {
        let harness = try GatewayHarness("one: { from: a, post: /1 }", endpoint: "route: POST /x")
        let client = try harness.send(
            request("POST", "/x", ["Content-Length: 2", "Expect: 100-continue"]))
        harness.pass(10)
        #expect(client.interim == [100])
        client.send("{}")
        #expect(harness.response(of: client).status == 200)
        harness.expectQuiet()
    }

    @Test func sendsNo100ContinueForATooLargeBody() throws {
        let harness = try GatewayHarness(
            "one: { from: a, post: /1 }", endpoint: "route: POST /x\nmax_body: 1KiB")
        let client = try harness.send(
            request("POST", "/x", ["Content-Length: 1025", "Expect: 100-continue"]))
        #expect(harness.response(of: client).status == 413)
        #expect(client.interim == [])
        harness.expectQuiet()
    }

    // MARK: Metrics and log

    @Test func everyResponseIsCountedAndLogged() throws {
        let harness = try GatewayHarness(Self.call)
        _ = try harness.fetch()
        _ = try harness.fetch(get("/nowhere"))
        #expect(harness.loggedStatuses == ["200", "404"])
        #expect(harness.responseCounts == ["GET /x: 200 once", "elsewhere: 404 once"])
        harness.expectQuiet()
    }
}
