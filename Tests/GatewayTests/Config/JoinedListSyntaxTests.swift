import Testing

@testable import Gateway

/// Where a reference may join a list, and how.
@Suite struct JoinedListSyntaxTests {
    private func found(_ part: String, top: String = "") -> [String] {
        problems(
            """
            version: 1
            \(top)
            backends: { a: { url: "http://h:1" } }
            endpoints:
              - route: POST /x
                calls:
                  u: { from: a, get: /u }
                  e: { from: a, \(part) }
            """
        ).map { $0.replacing(#/^\d+:\d+: /#, with: "") }
    }

    @Test(arguments: [
        #"get: "/e/{u.a,}/{u.b,}x""#, #"get: "/e?a={u.a,}&b={u.a&b=}""#,
        #"get: "/e?c=1&b={u.a&b=}&d={u.d&d=}""#, #"get: /e, headers: { X: "a{u.a,}{u,}" }"#,
        #"get: "/e?a={request.body.a?,}""#,
        #"get: "/e?a={request.query.a?&a=}""#,
    ])
    func acceptsJoinedLists(_ part: String) { #expect(found(part) == []) }

    @Test(arguments: [
        #"get: "/e/{u.a&b=}""#, #"get: "/e?c={u.a&b=}""#, #"get: "/e?b=1{u.a&b=}""#,
        #"get: "/e/b={u.a&b=}""#, #"get: "/e?xb={u.a&b=}""#, #"get: "/e?{u.c}b={u.a&b=}""#,
    ])
    func refusesARepeatedParameterElsewhere(_ part: String) {
        #expect(
            found(part) == [
                "error: 'get' in call 'e' must have {u.a&b=} behind 'b=' in the query: it repeats that"
                    + " parameter"
            ])
    }

    @Test(arguments: [
        #"post: /e, body: { a: "{u.a,}" }"#, #"post: /e, body: { a: "x{u.a,}" }"#,
        #"post: /e, body: "{u.a,}""#, #"get: /e, when: { value: "{u.a,}", exists: true }"#,
        #"get: /e, when: { value: "{u.b}", is: "{u.a,}" }"#,
    ])
    func refusesJoinedListsElsewhere(_ part: String) {
        let lines = found(part)
        #expect(
            lines.map {
                $0.hasSuffix(
                    "must have {u.a}: a list is joined only in a path, a query or a header")
            } == [true], "\(lines)")
    }

    @Test func refusesJoinedListsInLimits() {
        let lines = found(
            "get: /e", top: #"rate_limits: { l: { rate: 1/s, key: "{request.header.X,}" } }"#)
        #expect(lines.count { $0.contains("must have {request.header.X}: a list is joined") } == 1)
    }

    @Test func refusesARepeatedParameterInAHeader() {
        #expect(
            found(#"get: /e, headers: { X: "{u.a&b=}" }"#) == [
                "error: 'headers' in call 'e' must have {u.a,}: only a query can repeat a parameter"
            ])
    }

    @Test func theQuestionMarkComesFirst() {
        #expect(
            found(#"get: "/e?a={request.body.a,?}""#) == [
                "error: 'get' in call 'e' cannot be read: {request.body.a,?}: the '?' comes before the"
                    + " comma: {request.body.a?,}"
            ])
    }
}
