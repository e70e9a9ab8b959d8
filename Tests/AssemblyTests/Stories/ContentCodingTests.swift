import TestSupport
import Testing
import WorkerSupport

/// Bodies of calls have no content coding: calls request none, and one that comes all the same is a
/// failure with a name.
@Suite(.watched) struct ContentCodingTests {
    private static let required = "one: { from: a, get: /1, required: true"

    @Test(arguments: [
        ("", "", "", "identity"),
        (", headers: { Accept-Encoding: br }", "", "", "br"),
        ("", "", ", headers: { Accept-Encoding: br }", "br"),
        ("", "forward: { headers: [Accept-Encoding] }", "", "gzip"),
    ])
    func callsRequestNoCoding(
        _ call: String, _ endpoint: String, _ backend: String, _ sent: String
    ) throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1\(call) }", endpoint: endpoint,
            backend: String(backend.dropFirst(2)))
        _ = try harness.fetch(get("/x", "Accept-Encoding: gzip"))
        #expect(harness.seen.first?["Accept-Encoding"] == sent)
        harness.expectQuiet()
    }

    @Test(arguments: [
        ("gzip", true), ("br", true), ("GZIP, identity", true), ("identity", false), ("", false),
        ("identity, Identity", false), (" , identity,", false), (",", false),
        ("identity, br", true),
        ("x-gzip", true),
    ])
    func codedBodyIsAFailure(_ coding: String, _ fails: Bool) throws {
        let harness = try GatewayHarness(
            Self.required + " }", endpoint: "expose: details")
        harness.on("/1", .ok("1", "Content-Encoding: \(coding)"))
        let response = try harness.fetch()
        #expect(response.status == (fails ? 502 : 200))
        if fails {
            #expect(
                response.body.contains(
                    #""kind":"http_response_content_coding""#))
            #expect(response.body.contains(#""detail":"Content-Encoding: \#(coding)""#))
            #expect(try harness.outcomes() == "http_response_content_coding 1")
        }
        harness.expectQuiet()
    }

    /// A 204 of a server that compresses everything.
    @Test func emptyBodyHasNoCoding() throws {
        let harness = try GatewayHarness(Self.required + " }")
        harness.on("/1", .raw("HTTP/1.1 204 X\r\nContent-Encoding: gzip\r\n\r\n"))
        #expect(try harness.fetch().status == 200)
        harness.expectQuiet()
    }

    @Test(arguments: [true, false]) func relayedBodyKeepsItsCoding(_ isRelayed: Bool) throws {
        let harness = try GatewayHarness(
            Self.required + ", relay_status: [409], relay_body: \(isRelayed) }")
        harness.on(
            "/1",
            .status(
                409, "\u{1}\u{2}", "Content-Type: application/json", "Content-Encoding: gzip",
                "Content-Language: de"))
        let response = try harness.fetch()
        #expect(response.status == 409)
        #expect(response["Content-Encoding"] == (isRelayed ? "gzip" : nil))
        #expect(response["Content-Language"] == (isRelayed ? "de" : nil))
        #expect((response.body == "\u{1}\u{2}") == isRelayed)
        harness.expectQuiet()
    }
}
