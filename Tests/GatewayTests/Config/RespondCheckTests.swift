import Testing

@testable import Gateway

/// The rules for `respond`.
@Suite struct RespondCheckTests {
    private static let calls = "calls: { c: { from: a, get: /c }, d: { from: a, get: /d } }"

    /// The problems of an endpoint with these keys; without locations.
    private func found(_ keys: [String], route: String = "GET /x/{id}", top: String = "")
        -> [String]
    {
        problems(
            """
            version: 1
            \(top)
            backends: { a: { url: "http://h:1" } }
            endpoints:
              - route: \(route)
                params: { id: {}, q: {} }
            \(keys.map { "    \($0)" }.joined(separator: "\n"))
              - route: GET /other
                calls: { c: { from: a, get: /c } }
            """
        ).map { $0.replacing(#/^\d+:\d+: /#, with: "") }
    }

    static let valid: [[String]] = [
        [calls, #"respond: { status: 201, headers: { X-A: "{id}{q}{c.a}" } }"#],
        [
            calls,
            #"respond: { put: { a: "{c.a} {id}{q}" }, default: { "c.x[].y": 1 }, drop: ["c.b[].x"] }"#,
        ],
        [calls, #"respond: { root: ["{c[0].a}", "{id}{q}"] }"#],
        [#"respond: { body: { id: "{id}{q}" } }"#],
        [#"respond: { status: 308, headers: { Location: "/{id}{q}" } }"#],
        [#"respond: { status: 302, headers: { Location: "https://h/{id}?q={q}" } }"#],
        [#"respond: { status: 503, headers: { Retry-After: "{id}{q}", Allow: GET } }"#],
        [
            "respond: { drop: ['\"c\"'], put: { c: 1, d2: \"{id}{q}\" }, default: { d.x: 1, new: 2 } }",
            calls,
        ],
        [
            #"respond: { body: "<p>{ color: red }", headers: { Content-Type: text/html, X: "{id}{q}" } }"#
        ],
    ]

    @Test(arguments: valid) func accepts(_ keys: [String]) { #expect(found(keys) == []) }

    static let refused: [([String], String)] = [
        (
            [calls, #"respond: { put: { a: "{nope.b}", i: "{id}{q}" } }"#],
            "error: 'respond' of GET /x/{id} uses {nope.b}; there is no call 'nope' (calls here: c, d)"
        ),
        (
            [calls, "respond: { status: 204 }"],
            "error: 'status' of 'respond' must be a status from 200 to 299"
        ),
        (
            [calls, "respond: { status: 302 }"],
            "error: 'status' of 'respond' must be a status from 200 to 299"
        ),
        (
            ["respond: { status: 199 }"],
            "error: 'status' in 'respond' of endpoint 'GET /x/{id}' must be a whole number from 200 to 599"
        ),
        (
            [calls, "respond: { body: text }"],
            "error: 'body' of 'respond' is for endpoints without calls"
        ),
        (
            [calls, "respond: { headers: { content-type: text/html } }"],
            "error: 'headers' of 'respond' must not have 'content-type': the gateway sets it where"
        ),
        (
            ["respond: { headers: { X-Request-Id: a } }"],
            "error: 'headers' in 'respond' of endpoint 'GET /x/{id}' must not be 'X-Request-Id'"
        ),
        (
            ["respond: { headers: { Cache-Control: a } }"],
            "error: 'headers' in 'respond' of endpoint 'GET /x/{id}' must not be 'Cache-Control'"
        ),
        (["respond: { headers: { X-A: a, x-a: b } }"], "error: "),
        (
            [calls, "respond: { put: { a.b: 1 } }"],
            "error: 'put' has 'a.b'; it must be the name of a member"
        ),
        (
            [calls, "respond: { put: { _gateway: 1 } }"],
            "error: the key '_gateway' is reserved for the report"
        ),
        (
            [calls, "respond: { root: 1, put: { a: 1 } }"],
            "error: 'put' and 'root' exclude each other in 'respond'"
        ),
        (
            [calls, "respond: { root: 1, drop: [c] }"],
            "error: 'drop' and 'root' exclude each other in 'respond'"
        ),
        (
            [calls, "respond: { root: 1, default: { a: 1 } }"],
            "error: 'default' and 'root' exclude each other in 'respond'"
        ),
        (
            [calls, "respond: { default: { 'a[0].b': 1 } }"],
            "error: 'default' in 'respond' of endpoint 'GET /x/{id}' must be a path of keys and []"
        ),
        (
            [calls, "respond: { default: { 'a[]': 1 } }"],
            "error: 'default' in 'respond' of endpoint 'GET /x/{id}' must be a path of keys and []"
        ),
        (
            ["respond: { put: { a: 1 } }"],
            "error: 'put' of 'respond' has no effect without calls; write 'body'"
        ),
        (
            ["respond: { root: 1 }"],
            "error: 'root' of 'respond' has no effect without calls; write 'body'"
        ),
        (
            ["respond: { status: 204, body: a }"],
            "error: a response with the status 204 has no 'body'"
        ),
        (
            ["respond: { status: 304, body: a }"],
            "error: a response with the status 304 has no 'body'"
        ),
        (["respond: {}", "report: header"], "error: 'report' has no effect: there are no calls"),
        (
            ["respond: {}", "succeed_when: any"],
            "error: 'succeed_when' has no effect: there are no calls"
        ),
        (
            ["respond: {}", "server_timing: true"],
            "error: 'server_timing' has no effect: there are no calls"
        ),
        (["respond: {}", "proxy: { to: a }"], "error: 'proxy' and 'respond' exclude each other"),
        (
            ["respond: { unknown: 1 }"],
            "error: unknown key 'unknown' in 'respond' of endpoint 'GET /x/{id}'"
        ),
        (
            [
                calls.replacing("get: /c", with: "get: /c, keep: [x]"),
                #"respond: { put: { a: "{c.y}" } }"#,
            ],
            "warning: 'respond' of GET /x/{id} uses {c.y}; 'keep' of call 'c' removes this member, so the value is always missing"
        ),
        (
            [calls, "respond: { put: { c: 1 } }"],
            "warning: the key 'c' of 'put' is dropped if call 'c' already has it"
        ),
        (
            [calls, #"respond: { put: { a: "{request.header.X?}" } }"#],
            "warning: 'respond' of GET /x/{id} uses {request.header.X?}; the '?' has no effect"
        ),
        (
            [#"respond: { body: "a {id}" }"#],
            "warning: 'body' sends the text as it is, also {id...}"
        ),
        (
            [calls, "response_headers: { X-A: b }", "respond: { headers: { x-a: a } }"],
            "warning: 'x-a' is not sent: 'response_headers' sets it"
        ),
        (
            [
                "cache_control: public",
                #"respond: { body: { a: "{request.header.Authorization}" } }"#,
            ],
            "warning: GET /x/{id}: with 'public' in 'cache_control', a shared cache can send"
        ),
        (
            [#"respond: { status: 302, headers: { Location: "{id}{q}" } }"#],
            "warning: 'Location' has {id} in front of its path"
        ),
        (
            [#"respond: { status: 302, headers: { Location: "//{q}/{id}" } }"#],
            "warning: 'Location' has {q} in front of its path"
        ),
        (
            [
                #"respond: { status: 302, headers: { Location: "https://{request.header.Host}/{id}{q}" } }"#
            ],
            "warning: 'Location' has {request.header.Host} in front of its path"
        ),
        (
            [calls, "respond: { default: { _gateway.x: 1 } }"],
            "error: the key '_gateway.x' is reserved for the report"
        ),
        (
            [calls, "respond: { drop: [cc.a] }"],
            "warning: 'drop' has 'cc.a', and no call has that key in the response"
        ),
        (
            [calls, "respond: { default: { e.a: 1 } }"],
            "warning: 'default' has 'e.a', and no call has that key"
        ),
        (
            [calls, "respond: { headers: { Retry-After: 1 } }"],
            "error: 'headers' of 'respond' must not have 'Retry-After'"
        ),
        (
            ["respond: { body: 5 }"],
            "error: 'body' in 'respond' of endpoint 'GET /x/{id}' must be a text, a mapping or a list"
        ),
        (
            ["respond: { body: null }"],
            "error: 'body' in 'respond' of endpoint 'GET /x/{id}' must be a text, a mapping or a list"
        ),
        (["respond: {}", "deadline: 1s"], "error: 'deadline' has no effect: there are no calls"),
        (
            [calls.replacing("get: /c", with: "get: /c, at: x.y"), "respond: { put: { x: 1 } }"],
            "warning: the key 'x' of 'put' is dropped if call 'c' already has it"
        ),
    ]

    @Test(arguments: refused) func reports(_ keys: [String], _ problem: String) {
        let all = found(keys)
        #expect(all.contains { $0.hasPrefix(problem) }, "\(all)")
        let isError = problem.hasPrefix("error")
        #expect(all.contains { $0.hasPrefix("error") } == isError, "\(all)")
    }

    @Test func aDroppedKeyCanBePut() {
        #expect(
            found([Self.calls, #"respond: { drop: [c], put: { c: "{id}{q}" } }"#]) == [])
    }

    @Test func onlyAnEndpointWithoutCallsCanDoWithoutBackends() {
        #expect(
            problems("version: 1\nendpoints: [{ route: GET /x, respond: { body: a } }]") == [])
    }
}
