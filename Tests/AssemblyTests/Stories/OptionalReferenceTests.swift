import TestSupport
import Testing
import WorkerSupport

/// `{request.body?}` and other optional references: an absent value is left out; without the `?`
/// the call is skipped.
@Suite(.watched) struct OptionalReferenceTests {
    /// What a backend received: target, body and headers; without a request, the status and
    /// failures.
    private func sent(_ call: String, _ request: String, endpoint: String = "route: POST /x")
        throws -> String
    {
        let harness = try GatewayHarness("one: { from: a, \(call) }", endpoint: endpoint)
        let response = try harness.fetch(request)
        defer { harness.expectQuiet() }
        guard let seen = harness.seen.first else {
            return "\(response.status) \(response.failures ?? "")"
        }
        return [
            seen.target, seen.body, seen["Content-Type"] ?? "-", seen["Content-Length"] ?? "-",
        ].joined(separator: " ")
    }

    @Test func postWithoutABodyDoesNotFail() throws {
        let call = #"post: /1, body: "{request.body?}""#
        #expect(try sent(call, post("")) == "/1  - 0")
        #expect(try sent(call, post("plain")) == "/1 plain application/json 5")
    }

    /// The control: without the `?` the call is skipped.
    @Test func bodyWithoutAQuestionMarkSkips() throws {
        let call = #"post: /1, body: "{request.body}""#
        #expect(
            try sent(call, post(""))
                == #"400 [{"call":"one","kind":"skipped","because":"request.body"}]"#)
        #expect(try sent(call, post("plain")) == "/1 plain application/json 5")
    }

    static let entries: [(template: String, body: String, sent: String)] = [
        (#"{ a: "{request.body.a?}" }"#, #"{"a":1}"#, #"{"a":1}"#),
        (#"{ a: "{request.body.a?}" }"#, "{}", "{}"),
        (#"{ a: "{request.body.a?}" }"#, #"{"a":null}"#, "{}"),
        (#"{ a: "{request.body.a?}" }"#, "", "{}"),
        (#"{ a: "{request.body.a?}", b: 2 }"#, "{}", #"{"b":2}"#),
        (#"{ a: 1, b: "{request.body.b?}", c: 3 }"#, "{}", #"{"a":1,"c":3}"#),
        (#"{ a: 1, b: "{request.body.b?}", c: 3 }"#, #"{"b":[]}"#, #"{"a":1,"b":[],"c":3}"#),
        (#"{ a: 1, b: "{request.body.b?}" }"#, "{}", #"{"a":1}"#),
        (#"{ a: "{request.body.a?}", b: "{request.body.b?}" }"#, #"{"b":2}"#, #"{"b":2}"#),
        (#"[ "{request.body.a?}", { x: "{request.body.b?}" }, 3 ]"#, "{}", "[{},3]"),
        (#"[ "{request.body.a?}", 2 ]"#, #"{"a":{"k":19.90}}"#, #"[{"k":19.90},2]"#),
        (#"{ t: "a {request.body.a?} b" }"#, "{}", #"{"t":"a  b"}"#),
        (#"{ t: "a {request.body.a?} b" }"#, #"{"a":"\""}"#, #"{"t":"a \" b"}"#),
        (#"{ all: "{request.body?}", b: 1 }"#, "", #"{"b":1}"#),
        (#"{ all: "{request.body?}", b: 1 }"#, "[1]", #"{"all":[1],"b":1}"#),
        (#"{ h: "{request.header.X-None?}" }"#, "{}", "{}"),
        (#"{ q: "{request.query.none?}" }"#, "{}", "{}"),
    ]

    @Test(arguments: entries)
    func absentEntryIsLeftOut(_ template: String, _ body: String, _ expected: String) throws {
        #expect(
            try sent("post: /1, body: \(template)", post(body))
                == "/1 \(expected) application/json \(expected.utf8.count)")
    }

    @Test func referenceAloneThatIsAbsentSendsNoBody() throws {
        let call = #"post: /1, body: "{request.body.inner?}""#
        #expect(try sent(call, post("{}")) == "/1  - 0")
        #expect(try sent(call, post(#"{"inner":[1]}"#)) == "/1 [1] application/json 3")
    }

    static let twoValues =
        #"post: /1, headers: { X-A: "{request.body.a} {request.client}" }"#

    /// A body that is present but unusable is not absent.
    @Test(arguments: [
        (#"post: /1, body: { a: "{request.body.a?}" }"#, "{broken", "request.body.a"),
        (#"post: /1, body: { a: "{request.body?}" }"#, #"1,"admin":true"#, "request.body"),
        (#"post: /1, body: { a: "{request.body}" }"#, #"1,"admin":true"#, "request.body"),
        (#"post: /1, headers: { X-A: "{request.body.a?}" }"#, #"{"a":{}}"#, "request.body.a"),
        (#"post: /1, headers: { X-A: "{request.body.a?}" }"#, #"{"a":"\n"}"#, "request.body.a"),
        (twoValues, #"{"a":"\n"}"#, "request.body.a"),
    ])
    func unusableValueSkips(_ call: String, _ body: String, _ because: String) throws {
        #expect(
            try sent(call, post(body))
                == #"400 [{"call":"one","kind":"skipped","because":"\#(because)"}]"#)
    }

    /// A backend with HTTP/2 may end a connection, with the calls of other clients, for a longer value.
    @Test(arguments: [
        (#"post: "/1?a={request.body.a}""#, 64 * 1024 - 5, 64 * 1024 - 4),
        (#"post: "/1?a={request.body.a?}""#, 64 * 1024 - 5, 64 * 1024 - 4),
        (#"post: "/1?a={request.body.a}&b=1""#, 64 * 1024 - 9, 64 * 1024 - 8),
        (#"post: "/1?a={request.body.a}&b={request.client}""#, 65_000, 64 * 1024 - 6),
        (#"post: "/1?a={request.body.a}", forward: { query: all }"#, 64 * 1024 - 5, 64 * 1024 - 4),
        (#"post: /1, headers: { X-A: "{request.body.a}" }"#, 64 * 1024, 64 * 1024 + 1),
        (twoValues, 65_000, 64 * 1024 - 1),
        (#"post: /1, headers: { X-A: "b{request.body.a?}" }"#, 64 * 1024 - 1, 64 * 1024),
    ])
    func valueThatMakesTheHeadTooLongSkips(_ call: String, _ longest: Int, _ tooLong: Int) throws {
        func sent(_ count: Int) throws -> String {
            try self.sent(call, post(#"{"a":"\#(String(repeating: "a", count: count))"}"#))
        }
        #expect(try sent(longest).hasPrefix("/1"))
        #expect(
            try sent(tooLong)
                == #"400 [{"call":"one","kind":"skipped","because":"request.body.a"}]"#)
    }

    /// Bytes that are not UTF-8 never become a part of JSON.
    @Test(arguments: ["{request.query.q}", "{request.query.q?}", "a {request.query.q?}"])
    func valueThatIsNotUTF8Skips(_ reference: String) throws {
        let call = "post: /1, body: { q: \"\(reference)\" }"
        #expect(
            try sent(call, post("", to: "/x?q=%FF"))
                == #"400 [{"call":"one","kind":"skipped","because":"request.query.q"}]"#)
        #expect(try sent(call, post("", to: "/x?q=%C3%A4")).contains("ä"))
    }

    // MARK: Headers

    @Test(arguments: [
        (#"{ X-A: "{request.header.X-In?}" }"#, "X-In: 1", "1"),
        (#"{ X-A: "{request.header.X-In?}" }"#, "X-Other: 1", nil),
        (#"{ X-A: "{request.header.X-In?}" }"#, "X-In:", ""),
        (#"{ X-A: "Bearer {request.header.X-In?}" }"#, "X-In: t", "Bearer t"),
        (#"{ X-A: "Bearer {request.header.X-In?}" }"#, "X-Other: 1", nil),
        (#"{ X-A: "{request.query.q?}" }"#, "X-Other: 1", nil),
    ])
    func lineOfAnAbsentValueIsLeftOut(_ headers: String, _ line: String, _ value: String?) throws {
        let harness = try GatewayHarness("one: { from: a, get: /1, headers: \(headers) }")
        #expect(try harness.fetch(get("/x", line)).status == 200)
        #expect(harness.seen.first?["X-A"] == value)
        harness.expectQuiet()
    }

    /// The control.
    @Test func headerWithoutAQuestionMarkSkips() throws {
        let harness = try GatewayHarness(
            #"one: { from: a, get: /1, headers: { X-A: "{request.header.X-In}" } }"#)
        #expect(
            try harness.fetch().failures
                == #"[{"call":"one","kind":"skipped","because":"request.header.X-In"}]"#)
        #expect(harness.seen.isEmpty)
        harness.expectQuiet()
    }

    // MARK: Query

    @Test(arguments: [
        ("/x", "/1?a=&b=1"), ("/x?q=", "/1?a=&b=1"), ("/x?q=a+b%26%2B", "/1?a=a%20b%26%2B&b=1"),
        ("/x?%71=1", "/1?a=1&b=1"), ("/x?Q=1", "/1?a=&b=1"),
    ])
    func absentQueryValueIsEmpty(_ target: String, _ expected: String) throws {
        let harness = try GatewayHarness(#"one: { from: a, get: "/1?a={request.query.q?}&b=1" }"#)
        _ = try harness.fetch(get(target))
        #expect(harness.seen.first?.target == expected)
        harness.expectQuiet()
    }

    /// Absent without a `?`, repeated, or with a broken escape.
    @Test(arguments: [
        ("{request.query.q}", "/x"), ("{request.query.q?}", "/x?q=1&q=2"),
        ("{request.query.q}", "/x?q=1&%71=2"), ("{request.query.q?}", "/x?q=%zz"),
    ])
    func queryValueThatCannotBeUsedSkips(_ reference: String, _ target: String) throws {
        let harness = try GatewayHarness("one: { from: a, get: \"/1?a=\(reference)\" }")
        #expect(
            try harness.fetch(get(target)).failures
                == #"[{"call":"one","kind":"skipped","because":"request.query.q"}]"#)
        harness.expectQuiet()
    }

    @Test func queryValueCanBeUsedInThePath() throws {
        let harness = try GatewayHarness(#"one: { from: a, get: "/1/{request.query.q}" }"#)
        _ = try harness.fetch(get("/x?q=a%2Fb+c"))
        #expect(harness.seen.first?.target == "/1/a%2Fb%20c")
        harness.expectQuiet()
    }

    @Test func optionalParameterIsLeftOut() throws {
        let harness = try GatewayHarness(
            #"one: { from: a, get: "/1?l={lang?}", headers: { X-Lang: "{lang?}" } }"#,
            endpoint: "params: { lang: {} }")
        _ = try harness.fetch(get("/x"))
        _ = try harness.fetch(get("/x?lang=de"))
        #expect(harness.seen.map(\.target) == ["/1?l=", "/1?l=de"])
        #expect(harness.seen.map { $0["X-Lang"] } == [nil, "de"])
        harness.expectQuiet()
    }

    // MARK: forward: { query: all }

    @Test func allUndeclaredQueryParametersAreForwarded() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: "/1?l={lang}" }
            two: { from: b, get: /2, forward: { query: [q] } }
            """, endpoint: "params: { lang: { default: en } }\nforward: { query: all }")
        _ = try harness.fetch(get("/x?q=a+b&lang=de&z=%2f&flag&q=%C3%A4"))
        #expect(
            harness.seen.map(\.target) == [
                "/1?l=de&q=a+b&z=%2f&flag&q=%C3%A4", "/2?q=a%20b&q=%C3%A4",
            ])
        harness.expectQuiet()
    }

    /// A client cannot add another value to the call's own query.
    @Test(arguments: [
        ("/x?role=admin&z=1", "/1?role=user&flag&z=1"),
        ("/x?r%6Fle=admin&flag=2&Role=1&roles=2", "/1?role=user&flag&roles=2"),
    ])
    func parametersOfTheCallsOwnQueryAreNotForwarded(_ target: String, _ expected: String) throws {
        let harness = try GatewayHarness(
            #"one: { from: a, get: "/1?role=user&flag" }"#, endpoint: "forward: { query: all }")
        _ = try harness.fetch(get(target))
        #expect(harness.seen.first?.target == expected)
        harness.expectQuiet()
    }
}
