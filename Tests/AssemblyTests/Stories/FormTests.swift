import TestSupport
import Testing
import WorkerSupport

/// `form`: bodies of `application/x-www-form-urlencoded`.
@Suite(.watched) struct FormTests {
    private func fetch(
        _ form: String, _ request: String, more: String = ""
    ) throws -> (harness: GatewayHarness, response: ReceivedResponse) {
        let harness = try GatewayHarness(
            "one: { from: a, post: /1, form: \(form)\(more) }", endpoint: "route: POST /x")
        let response = try harness.fetch(request)
        harness.expectQuiet()
        return (harness, response)
    }

    static let forms: [(form: String, body: String, sent: String)] = [
        (
            #"{ grant_type: password, user: "{request.body.user}", n: 1, yes: true }"#,
            #"{"user":"a b&c=é+"}"#, "grant_type=password&user=a%20b%26c%3D%C3%A9%2B&n=1&yes=true"
        ),
        // Names and fixed texts are escaped, too.
        (#"{ "a b": "c d", "é": "" }"#, "{}", "a%20b=c%20d&%C3%A9="),
        (#"{ t: "a {request.body.a} b" }"#, #"{"a":1.50}"#, "t=a%201.50%20b"),
        // An optional field is left out, and no separator stays.
        (#"{ a: "{request.body.a?}", b: 2 }"#, "{}", "b=2"),
        (#"{ a: 1, b: "{request.body.b?}", c: 3 }"#, "{}", "a=1&c=3"),
        (#"{ a: "{request.body.a?}", b: "{request.body.b?}" }"#, #"{"b":"x"}"#, "b=x"),
        (#"{ a: "{request.body.a?}" }"#, "{}", ""),
        (#"{ t: "a{request.body.a?}" }"#, "{}", "t=a"),
    ]

    @Test(arguments: forms)
    func sendsFields(_ form: String, _ body: String, _ sent: String) throws {
        let (harness, _) = try fetch(form, post(body))
        let seen = try #require(harness.seen.first)
        #expect(seen.body == sent)
        #expect(seen["Content-Type"] == "application/x-www-form-urlencoded")
        #expect(seen["Content-Length"] == "\(sent.utf8.count)")
    }

    @Test func contentTypeCanBeConfigured() throws {
        let (harness, _) = try fetch(
            "{ a: 1 }", post("{}"), more: ", headers: { Content-Type: text/x }")
        #expect(harness.seen.first?["Content-Type"] == "text/x")
    }

    /// Objects and lists have no text.
    @Test(arguments: ["{}", #"{"a":null}"#, #"{"a":[1]}"#, #"{"a":{}}"#])
    func missingValueSkipsTheCall(_ body: String) throws {
        let (harness, response) = try fetch(#"{ a: "{request.body.a}" }"#, post(body))
        #expect(harness.seen.isEmpty)
        #expect(
            response.failures
                == #"[{"call":"one","kind":"skipped","because":"request.body.a"}]"#)
    }
}
