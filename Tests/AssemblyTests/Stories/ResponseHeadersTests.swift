import TestSupport
import Testing
import WorkerSupport

/// The header lines that every response has: security headers and fixed ones.
@Suite(.watched) struct ResponseHeadersTests {
    /// One of each kind of response, those of the server itself included.
    private static func responses(_ top: String, endpoint: String = "") throws
        -> [(status: Int, response: ReceivedResponse)]
    {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1, required: true }",
            endpoint: "params: { n: { type: integer } }\nmax_body: 1KiB\n" + endpoint,
            top: top + "\nlimits: { header_timeout: 100ms, requests_in_flight: 1 }")
        var found: [(Int, ReceivedResponse)] = []
        func add(_ status: Int, _ text: String) throws {
            found.append((status, try harness.fetch(text)))
        }
        try add(200, get("/x?n=1"))
        try add(200, request("HEAD", "/x"))
        try add(400, get("/x?n=a"))
        try add(404, get("/nothing"))
        try add(405, request("DELETE", "/x"))
        try add(400, "BAD\r\n\r\n")
        try add(400, "GET /x HTTP/1.1\r\n\r\n")
        try add(408, "GET /x HTTP/1.1\r\nHo")
        try add(414, get("/" + String(repeating: "a", count: 9000)))
        try add(431, get("/x", "X: " + String(repeating: "a", count: 40_000)))
        try add(
            413,
            request("GET", "/x", ["Content-Length: 2000"]) + String(repeating: "a", count: 2000))
        harness.on("/1", .status(500))
        try add(502, get("/x"))
        harness.on("/1", .hangs)
        let first = try harness.send(get("/x"))
        harness.pass(1)
        try add(503, get("/x"))
        found.append((504, harness.response(of: first)))
        harness.expectQuiet()
        return found
    }

    @Test(arguments: [
        ("", "nosniff", nil), ("security_headers: nosniff", "nosniff", nil),
        ("security_headers: api", "nosniff", "no-referrer"), ("security_headers: none", nil, nil),
    ])
    func everyResponseHasSecurityHeaders(
        _ top: String, _ sniffing: String?, _ referrer: String?
    ) throws {
        for (status, response) in try Self.responses(top) {
            #expect(response.status == status)
            #expect(response["X-Content-Type-Options"] == sniffing, "\(status)")
            #expect(response["Referrer-Policy"] == referrer, "\(status)")
            #expect(
                response["Content-Security-Policy"]
                    == referrer.map { _ in "default-src 'none'; frame-ancestors 'none'" })
            #expect(
                response["Cross-Origin-Resource-Policy"] == referrer.map { _ in "same-site" })
            #expect(response["Strict-Transport-Security"] == nil)
        }
    }

    @Test func everyResponseHasFixedHeaders() throws {
        for (status, response) in try Self.responses(
            "response_headers: { X-Frame-Options: DENY, x-content-type-options: other }",
            endpoint: "response_headers: { X-Frame-Options: SAMEORIGIN, X-Own: '1' }")
        {
            // The server's own rejection of a request for the endpoint has the endpoint's lines;
            // what never became a request has those of all.
            let isOwn =
                [200, 413, 502, 503, 504].contains(status) || response.body.contains("errors")
            #expect(response["X-Frame-Options"] == (isOwn ? "SAMEORIGIN" : "DENY"), "\(status)")
            #expect(response["X-Own"] == (isOwn ? "1" : nil), "\(status)")
            #expect(response["X-Content-Type-Options"] == "other", "\(status)")
        }
    }

    @Test func fixedHeaderIsNotRelayedAsWell() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1, relay_headers: [X-A, X-B, X-Content-Type-Options] }",
            top: "response_headers: { x-a: own }")
        harness.on("/1", .ok("1", "X-A: theirs", "X-B: theirs", "X-Content-Type-Options: x"))
        let response = try harness.fetch()
        #expect(response["X-A"] == "own" && response["X-B"] == "theirs")
        #expect(response["X-Content-Type-Options"] == "nosniff")
        harness.expectQuiet()
    }
}
