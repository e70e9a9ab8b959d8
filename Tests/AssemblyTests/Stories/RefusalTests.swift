import Assembly
import Gateway
import HTTP
import SimReactor
import TestSupport
import Testing
import WorkerSupport

/// Requests that are refused by the client's address (403) or by the host that they name (421). The
/// harness's clients are on 127.0.0.1 and send `Host: gateway`.
@Suite(.watched) struct RefusalTests {
    private static let call = "one: { from: a, get: /1 }"

    private static func problem(_ status: Int, _ title: String, _ reason: String) -> String {
        #"{"type":"about:blank","title":"\#(title)","status":\#(status),"instance":"r","reason":"\#(reason)"}"#
    }

    @Test(arguments: [
        ("", 200), ("hosts: [gateway]", 200), ("hosts: [other, GATEWAY]", 200),
        ("hosts: [other]", 421), ("clients: { deny: [127.0.0.1] }", 403),
        ("clients: { deny: [127.0.0.2] }", 200), ("clients: { allow: [127.0.0.0/8] }", 200),
        ("clients: { allow: [10.0.0.0/8] }", 403),
        // The address is checked first.
        ("hosts: [other]\nclients: { deny: [127.0.0.1] }", 403),
    ])
    func refusesRequests(_ top: String, _ status: Int) throws {
        for (target, accepted) in [("/x", 200), ("/unknown", 404)] {
            let harness = try GatewayHarness(Self.call, top: top)
            let response = try harness.fetch(get(target, "X-Request-Id: r"))
            #expect(response.status == (status == 200 ? accepted : status))
            switch status {
            case 403: #expect(response.body == Self.problem(403, "Forbidden", "address"))
            case 421: #expect(response.body == Self.problem(421, "Misdirected Request", "host"))
            default: break
            }
            #expect(harness.seen.count == (response.status == 200 ? 1 : 0))
            harness.expectQuiet()
        }
    }

    /// Where a proxy is trusted, its client counts; where none is, the header counts for nothing.
    @Test(arguments: [
        ("trusted_proxies: [127.0.0.1], deny: [1.1.1.1]", "1.1.1.1", 403),
        ("trusted_proxies: [127.0.0.1], deny: [1.1.1.1]", "1.1.1.2", 200),
        ("trusted_proxies: [127.0.0.1], deny: [1.1.1.1]", "1.1.1.1, 2.2.2.2", 200),
        ("trusted_proxies: [127.0.0.1], allow: [1.1.1.1]", "1.1.1.1", 200),
        ("trusted_proxies: [127.0.0.1], allow: [1.1.1.1]", "nonsense", 403),
        ("trusted_proxies: [127.0.0.1], address_from: forwarded, deny: [1.1.1.1]", "1.1.1.1", 200),
        ("deny: [1.1.1.1]", "1.1.1.1", 200), ("allow: [127.0.0.1]", "1.1.1.1", 200),
    ])
    func checksTheClientOfAProxy(_ clients: String, _ forwardedFor: String, _ status: Int) throws {
        let harness = try GatewayHarness(Self.call, top: "clients: { \(clients) }")
        let line = "X-Forwarded-For: \(forwardedFor)"
        #expect(try harness.fetch(get("/x", line)).status == status)
        harness.expectQuiet()
    }

    /// A client that resets its connection before it is accepted has no address, so that no rule about
    /// addresses could apply to its request.
    @Test(arguments: [
        "", "clients: { deny: [127.0.0.1] }", "clients: { allow: [unix] }",
        "clients: { trusted_proxies: [unix], deny: [127.0.0.1] }",
    ])
    func closesConnectionOfUnknownPeer(_ top: String) throws {
        let harness = try GatewayHarness(Self.call, top: top)
        harness.outside.host = nil
        let client = try harness.send(get("/x", "X-Forwarded-For: 1.1.1.1"))
        harness.pass(10)
        #expect(client.isClosed && client.responses.isEmpty && harness.seen.isEmpty)
        harness.expectQuiet()
    }

    /// The positive control: peers on a unix socket have no address either, and rules name them.
    @Test(arguments: [
        ("allow: [unix]", "", 200), ("deny: [unix]", "", 403), ("deny: [127.0.0.1]", "", 200),
        ("allow: [127.0.0.1]", "", 403),
        ("trusted_proxies: [unix], deny: [1.1.1.1]", "X-Forwarded-For: 1.1.1.1", 403),
        ("trusted_proxies: [unix], deny: [1.1.1.1]", "X-Forwarded-For: 1.1.1.2", 200),
    ])
    func rulesApplyToUnixSockets(_ clients: String, _ line: String, _ status: Int) throws {
        let harness = try GatewayHarness(Self.call, top: "clients: { \(clients) }")
        let lines = line.isEmpty ? [] : [line]
        #expect(try harness.fetchFromUnixSocket(request("GET", "/x", lines)).status == status)
        harness.expectQuiet()
    }

    @Test func absoluteTargetTakesPrecedence() throws {
        let harness = try GatewayHarness(Self.call, top: "hosts: [gateway]")
        #expect(try harness.fetch(get("http://gateway/x")).status == 200)
        #expect(try harness.fetch(get("http://other/x")).status == 421)
        #expect(try harness.fetch("GET /x HTTP/1.0\r\n\r\n").status == 421)
        harness.expectQuiet()
    }

    // MARK: Endpoints

    @Test func listsOfAnEndpointApplyToIt() throws {
        let harness = try GatewayHarness(
            config: GatewayHarness.text(
                Self.call, "clients: { deny: [127.0.0.1] }", "",
                "") + "\n  - route: GET /y\n    calls: { one: { from: a, get: /1 } }\n")
        #expect(try harness.fetch(get("/x")).status == 403)
        #expect(try harness.fetch(get("/y")).status == 200)
        #expect(
            harness.responseCounts.sorted() == ["GET /x: 403 once", "GET /y: 200 once"])
        harness.expectQuiet()
    }

    /// The body of a refused request is not read, and needs no room.
    @Test func refusesBeforeTheBody() throws {
        let harness = try GatewayHarness(
            Self.call, endpoint: "route: POST /x\nclients: { allow: [10.0.0.1] }")
        let client = try harness.send(
            request("POST", "/x", ["Content-Length: 100000", "Expect: 100-continue"]))
        #expect(harness.response(of: client).status == 403)
        harness.expectQuiet()
    }

    /// Without a delay, the 403 would be distinguishable by its time.
    @Test func refusalOfAnEndpointIsPadded() throws {
        let endpoint = "min_duration: 300ms\ndeadline: 250ms"
        let refused = try GatewayHarness(
            Self.call, endpoint: endpoint + "\nclients: { deny: [127.0.0.1] }")
        #expect(try refused.fetch().outcome == "403 at 300")
        refused.expectQuiet()
        let accepted = try GatewayHarness(Self.call, endpoint: endpoint)
        #expect(try accepted.fetch().outcome == "200 at 300")
        accepted.expectQuiet()
    }

    // MARK: Reload

    @Test func reloadChangesTheLists() throws {
        func text(_ top: String) -> String { GatewayHarness.text(Self.call, "", "", top) }
        let harness = try GatewayHarness(config: text(""))
        #expect(try harness.fetch().status == 200)
        try harness.install(text("clients: { deny: [127.0.0.1] }\nsecurity_headers: api"))
        let refused = try harness.fetch()
        #expect(refused.status == 403 && refused["Referrer-Policy"] == "no-referrer")
        try harness.install(text("security_headers: none"))
        let accepted = try harness.fetch()
        #expect(accepted.status == 200 && accepted["X-Content-Type-Options"] == nil)
        harness.expectQuiet()
    }

    // MARK: Log and metrics

    @Test func countsAndLogsTheReason() throws {
        let harness = try GatewayHarness(
            Self.call, endpoint: "clients: { deny: [127.0.0.1] }", top: "hosts: [gateway]")
        _ = try harness.fetch()
        _ = try harness.fetch("GET /x HTTP/1.1\r\nHost: other\r\n\r\n")
        _ = try harness.fetch(get("/unknown"))
        let refusals = harness.instance?.snapshot.meter.refusals
        #expect(refusals?[.address] == 1 && refusals?[.host] == 1)
        let reasons = harness.logged.map { line in
            line.firstMatch(of: /"status":(\d+),"outcome":"rejected"(,"reason":"(\w+)")?/).map {
                "\($0.1) \($0.3 ?? "-")"
            }
        }
        #expect(reasons == ["403 address", "421 host", "404 -"])
        harness.expectQuiet()
    }
}
