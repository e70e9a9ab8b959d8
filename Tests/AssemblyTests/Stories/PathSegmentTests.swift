import TestSupport
import Testing
import WorkerSupport

/// A finished segment of a call's path is never empty, `.` or `..`.
@Suite(.watched) struct PathSegmentTests {
    private func result(_ path: String, _ target: String) throws -> (
        ReceivedResponse, [ReceivedRequest]
    ) {
        let harness = try GatewayHarness(
            "one: { from: a, get: \"\(path)\" }\ntwo: { from: b, get: /2 }",
            endpoint: """
                params: { v: { type: string }, w: { type: string } }
                """)
        let response = try harness.fetch(get(target))
        harness.expectQuiet()
        return (response, harness.seen)
    }

    @Test(arguments: [
        ("/u/{v}/end", "/x?v="), ("/u/{v}/end", "/x?v=."), ("/u/{v}/end", "/x?v=%2e%2e"),
        ("/u/{v}", "/x?v="), ("/u/{v}?a={w}", "/x?v=..&w=1"), ("/u/{v}{w}/end", "/x?v=&w="),
        ("/u/{v}{w}/end", "/x?v=.&w=."), ("/u/{v}.{w}/end", "/x?v=&w="),
        ("/u/{v}.{w}/end", "/x?v=.&w="), ("/u/%2e{v}/end", "/x?v=."), ("/u/%2E{v}/end", "/x?v="),
        // What `proxy` refuses is refused in a value, too.
        ("/u/{v}/end", "/x?v=..%2F.."), ("/u/{v}/end", "/x?v=a%2F..%2Fb"),
        ("/u/{v}/end", "/x?v=..;a"),
        ("/u/x{v}/end", "/x?v=%2F..%2Fb"), ("/u/..{v}/end", "/x?v=%3B"),
        ("/u/{v}/end", "/x?v=a%5Cb"),
        ("/u/x{v}/end", "/x?v=%00"),
    ])
    func refusesARequestWhoseParameterWouldChangeThePath(_ path: String, _ target: String) throws {
        let (response, seen) = try result(path, target)
        #expect(response.status == 400)
        #expect(
            response.body.contains(
                #"{"in":"query","name":"v","reason":"must not leave an empty, . or .. segment, a backslash or a zero byte in a path"}"#
            ))
        // No call is made for a request that is refused.
        #expect(seen.isEmpty)
    }

    @Test(arguments: [
        ("/u/{v}/end", "/x?v=a", "/u/a/end"), ("/u/{v}/end", "/x?v=...", "/u/.../end"),
        ("/u/{v}.{w}/end", "/x?v=.&w=.", "/u/.../end"),
        ("/u/{v}.json", "/x?v=..", "/u/...json"),
        ("/u/{v}/end", "/x?v=a%2Fb", "/u/a%2Fb/end"),
        ("/u/{v}/end", "/x?v=;a%3Fb", "/u/%3Ba%3Fb/end"),
        ("/u/{v}/end", "/x?v=%252e%252e", "/u/%252e%252e/end"),
        ("/u/x{v}/end", "/x?v=", "/u/x/end"), ("/u?q={v}", "/x?v=", "/u?q="),
        ("/u?q=/{v}/", "/x?v=..", "/u?q=/../"),
    ])
    func sendsSegmentsThatDoNotChangeThePath(_ path: String, _ target: String, _ sent: String)
        throws
    {
        let (response, seen) = try result(path, target)
        #expect(response.status == 200)
        #expect(seen.contains { $0.target == sent }, "\(seen.map(\.target))")
    }

    @Test(arguments: [
        #""""#, #"".""#, #""..""#, #""\u002e\u002e""#, #""a/..""#, #""a\\b""#, #""a\u0000""#,
    ])
    func skipsACallWhosePathAResponseWouldChange(_ value: String) throws {
        let harness = try GatewayHarness(
            """
            s: { from: b, get: /source }
            one: { from: a, get: "/u/{s.v}/end" }
            """)
        harness.on("/source", .ok("{\"v\":\(value)}"))
        let response = try harness.fetch()
        #expect(response.status == 200)
        #expect(response.body.contains(#"{"call":"one","kind":"skipped","because":"s"}"#))
        #expect(harness.seen.map(\.target) == ["/source"])
        harness.expectQuiet()
    }

    @Test func sendsAValidSegmentOfAResponse() throws {
        let harness = try GatewayHarness(
            """
            s: { from: b, get: /source }
            one: { from: a, get: "/u/{s.v}/end" }
            """)
        harness.on("/source", .ok(#"{"v":"a/b.."}"#))
        #expect(try harness.fetch().status == 200)
        #expect(harness.seen.map(\.target) == ["/source", "/u/a%2Fb../end"])
        harness.expectQuiet()
    }

    /// The path of a disabled call does not refuse the request.
    @Test func disabledCallIsNotChecked() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: \"/u/{v}/end\", when: { param: w } }\ntwo: { from: b, get: /2 }",
            endpoint: "params: { v: { type: string }, w: { type: string } }")
        #expect(try harness.fetch(get("/x?v=")).status == 200)
        #expect(try harness.fetch(get("/x?v=&w=1")).status == 400)
        harness.expectQuiet()
    }
}
