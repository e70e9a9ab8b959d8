import TestSupport
import Testing
import WorkerSupport

/// `{tags,}` and `{tags&tag=}`: a list as one text in a path, a query or a header.
@Suite(.watched) struct JoinedListTests {
    /// The target and the header `X-Tags` that the second call sends; else the failures of the request.
    private func sent(
        _ call: String, _ value: String, endpoint: String = ""
    ) throws -> String {
        let harness = try GatewayHarness(
            """
            u: { from: a, get: /1, required: true }
            e: { from: b, \(call) }
            """, endpoint: endpoint)
        harness.on("/1", .ok(#"{"tags":\#(value)}"#))
        let response = try harness.fetch(get("/x?q=a,b&n=1", "X-List: a, b"))
        defer { harness.expectQuiet() }
        guard let seen = harness.seen.first(where: { $0.target != "/1" }) else {
            return response.body
        }
        return [seen.target, seen["X-Tags"]].compactMap { $0 }.joined(separator: " ")
    }

    private static let skipped =
        #","_gateway":{"complete":false,"failures":[{"call":"e","kind":"skipped","because":"u"}]}}"#

    static let queries: [(String, String)] = [
        ("[1,2]", "/e?t=1,2&r=1&r=2"),
        (#"["a b","c,d","e&f"]"#, "/e?t=a%20b,c%2Cd,e%26f&r=a%20b&r=c%2Cd&r=e%26f"),
        ("[]", "/e?t=&r="), ("[null,true,19.90,null]", "/e?t=true,19.90&r=true&r=19.90"),
        (#""x,y""#, "/e?t=x%2Cy&r=x%2Cy"), ("7", "/e?t=7&r=7"), (#"[""]"#, "/e?t=&r="),
    ]

    @Test(arguments: queries) func joinsListsInQueries(_ value: String, _ target: String) throws {
        #expect(try sent(#"get: "/e?t={u.tags,}&r={u.tags&r=}""#, value) == target)
    }

    @Test func joinsListsInPaths() throws {
        #expect(try sent(#"get: "/e/{u.tags,}/x""#, #"[1,"a/b"]"#) == "/e/1,a%2Fb/x")
        let refused = try sent(#"get: "/e/{u.tags,}/x""#, "[]")
        #expect(refused.hasSuffix(Self.skipped), "an empty segment")
        #expect(try sent(#"get: "/e/{u.tags,}/x""#, #"["..",".."]"#) == "/e/..,../x")
        #expect(try sent(#"get: "/e/{u.tags,}/x""#, #"[".."]"#).hasSuffix(Self.skipped))
        #expect(try sent(#"get: "/e/{u.tags,}/x""#, #""a, b""#) == "/e/a%2C%20b/x")
    }

    /// A comma does not hide a segment that a backend would read as another path.
    @Test(arguments: [#""../x,y""#, #"["..\\x,","a"]"#, #""a\u0000,b""#, #"["..\/,"]"#])
    func refusesHarmfulSegmentsWithCommas(_ value: String) throws {
        #expect(try sent(#"get: "/e/{u.tags,}/x""#, value).hasSuffix(Self.skipped))
    }

    @Test func refusesHarmfulSegmentsOfTheClient() throws {
        let harness = try GatewayHarness("e: { from: a, get: \"/e/{request.query.q,}/x\" }")
        for (query, status) in [("a,b", 200), ("..%2F,", 400), ("%2E%2E%5C,x", 400)] {
            #expect(try harness.fetch(get("/x?q=\(query)")).status == status)
        }
        #expect(harness.seen.map(\.target) == ["/e/a%2Cb/x"])
        harness.expectQuiet()
    }

    @Test func joinsListsInHeaders() throws {
        let call = #"get: /e, headers: { X-Tags: "a={u.tags,}" }"#
        #expect(try sent(call, #"[1,"b c",null]"#) == "/e a=1,b c")
        #expect(try sent(call, "[]") == "/e a=")
        #expect(try sent(call, #""one""#) == "/e a=one")
    }

    /// A value that a backend would read as another one is not sent.
    @Test(arguments: [
        #"["a,b","c"]"#, #"["a\r\nX: 1"]"#, "[[1]]", "[1,{}]", "{}", "null",
    ])
    func skipsListsThatNoHeaderCanHave(_ value: String) throws {
        let response = try sent(#"get: /e, headers: { X-Tags: "{u.tags,}" }"#, value)
        #expect(response.hasSuffix(Self.skipped))
    }

    @Test(arguments: ["[[1]]", "[1,{}]", "{}", "null"])
    func skipsListsOfObjectsInQueries(_ value: String) throws {
        #expect(try sent(#"get: "/e?t={u.tags,}""#, value).hasSuffix(Self.skipped))
    }

    /// The control: without the comma a list is no text.
    @Test func skipsListsThatAreNotJoined() throws {
        #expect(try sent(#"get: "/e?t={u.tags}""#, "[1,2]").hasSuffix(Self.skipped))
        #expect(try sent(#"get: "/e?t={u.tags}""#, "1") == "/e?t=1")
    }

    @Test func valuesOfTheRequestAreListsOfOne() throws {
        let call = #"get: "/e?a={request.query.n,}&b={request.query.none?,}""#
        #expect(try sent(call, "0") == "/e?a=1&b=")
        #expect(try sent(#"get: "/e?q={request.query.q,}""#, "0") == "/e?q=a%2Cb")
        #expect(
            try sent(
                #"get: /e, headers: { X-Tags: "{request.query.n,}{request.header.X-No?,}" }"#, "0")
                == "/e")
    }
}
