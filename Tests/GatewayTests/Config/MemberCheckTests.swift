import Testing

@testable import Gateway

/// References to members that never exist, and parameters that nothing uses.
@Suite struct MemberCheckTests {
    /// The problems of two calls, the second of which uses a value of the first; without locations.
    private func found(_ first: String, _ second: String, route: String = "GET /x") -> [String] {
        problems(
            """
            version: 1
            backends: { a: { url: "http://h:1" } }
            endpoints:
              - route: \(route)
                calls:
                  t: { from: a, get: /t, \(first) }
                  d: { from: a, \(second) }
            """
        ).map { $0.replacing(#/^\d+:\d+: /#, with: "") }
    }

    static let removed: [(String, String)] = [
        ("keep: [], at: .", "keep"), ("keep: [b]", "keep"), ("drop: [a]", "drop"),
        ("rename: { a: z }", "rename"), ("keep: [a], rename: { a: z }", "rename"),
        ("keep: [a], drop: [a]", "drop"), ("keep: [a.c]", "keep"), ("drop: [a.b]", "drop"),
        ("rename: { a.b: c }", "rename"), ("take: \"list[]\"", "take"),
        ("take: x, keep: [b]", "keep"),
    ]

    static let uses = [
        #"get: "/d/{t.a.b}""#, #"get: "/d?a={t.a.b}""#, #"get: "/d?a={t.a.b,}""#,
        #"get: /d, headers: { X: "{t.a.b}" }"#, #"post: /d, body: { a: ["{t.a.b}"] }"#,
        #"post: /d, body: { a: "x {t.a.b}" }"#, #"post: /d, body: "{t.a.b}""#,
    ]

    @Test(arguments: removed, uses)
    func refusesReferencesToRemovedMembers(_ rule: (String, String), _ use: String) {
        let name = use.contains("{t.a.b,}") ? "t.a.b," : "t.a.b"
        #expect(
            found(rule.0, use) == [
                "error: call 'd' uses {\(name)}; '\(rule.1)' of call 't' removes this member"
            ])
    }

    @Test(arguments: [("t.first_name", true), ("t.firstName", false), ("t._id", false)])
    func knowsTheNamesInCamelCase(name: String, isRemoved: Bool) {
        let problems = found(#"rename: { "*": camel }"#, "get: \"/d/{\(name)}\"")
        #expect(
            problems
                == (isRemoved
                    ? ["error: call 'd' uses {\(name)}; 'rename' of call 't' removes this member"]
                    : []))
    }

    static let removedElements: [(String, String, String?)] = [
        ("drop: [\"items[0].x\"]", "t.items[0].x", "drop"),
        ("drop: [\"items[0].x\"]", "t.items[1].x", nil),
        ("keep: [\"items[0].id\"]", "t.items[0].x", "keep"),
        ("keep: [\"items[0].id\"]", "t.items[0].id", nil),
        ("keep: [\"items[0]\"]", "t.items[1].x", "keep"),
        ("keep: [\"items[0]\"]", "t.items[0].x", nil),
        ("rename: { \"items[0].x\": y }", "t.items[0].x", "rename"),
        ("rename: { \"items[0].x\": y }", "t.items[0].y", nil),
    ]

    @Test(arguments: removedElements)
    func knowsTheMembersOfElements(_ rule: String, _ name: String, key: String?) {
        #expect(
            found(rule, "get: \"/d/{\(name)}\"")
                == (key.map {
                    ["error: call 'd' uses {\(name)}; '\($0)' of call 't' removes this member"]
                } ?? []))
    }

    /// A condition has a result for a missing value, but always the same one.
    @Test(
        arguments: removed,
        [
            #"{ value: "{t.a.b}", exists: false }"#, #"{ not: { value: "{t.a.b}", is: 1 } }"#,
            #"{ any: [{ value: "{request.client}", is: "{t.a.b}" }] }"#,
        ])
    func warnsOfConditionsOnRemovedMembers(_ rule: (String, String), _ condition: String) {
        #expect(
            found(rule.0, "get: /d, when: \(condition)") == [
                "warning: call 'd' uses {t.a.b}; '\(rule.1)' of call 't' removes this member, so the"
                    + " value is always missing"
            ])
    }

    @Test(arguments: [
        "keep: [a]", "keep: [a.b]", "keep: [a.b.c]", "drop: [b, a.c]", "rename: { z: a }",
        "rename: { a.c: b }", "keep: [a], rename: { b: z }", "take: x", "take: x, keep: [a]",
        "if_failed: omit", "keep: [z], rename: { z: a }",
    ])
    func acceptsReferencesToMembersThatMayExist(_ rule: String) {
        for use in Self.uses { #expect(found(rule, use) == [], "\(use)") }
    }

    /// A key that cannot be read removes nothing.
    @Test func reportsNothingForAKeyThatCannotBeRead() {
        let lines = found("keep: [\"b[\"]", Self.uses[0])
        #expect(lines.count == 1 && lines[0].contains("'keep' in call 't'"))
    }

    @Test func warnsOfAReferenceThatRepeatsTake() {
        #expect(
            found("take: data.user", #"get: "/{t.data.user.id}""#) == [
                "warning: call 'd' uses {t.data.user.id}; references begin at the result of 'take:"
                    + " data.user' of call 't', so leave 'data.user' out"
            ])
        #expect(found("take: data.user", #"get: "/{t.data.id}""#) == [])
    }

    @Test(arguments: [
        (#"{ value: "{request.body.z}" , is: 1 }"#, "warning"), ("{request.body.z?}", "warning"),
        ("{request.body.z}", "error"), ("{request.body.a.c}", "error"),
        ("{request.body.a.b.c}", nil), ("{request.body.r.x}", nil), ("{request.body.a}", nil),
        ("{request.body}", nil),
    ])
    func knowsTheMembersOfAClosedBody(_ reference: String, severity: String?) {
        let part =
            reference.contains("value") ? "when: \(reference)" : "headers: { X: \"\(reference)\" }"
        let text = { (rule: String) in
            """
            version: 1
            backends: { a: { url: "http://h:1" } }
            endpoints:
              - route: POST /x
                body:
                  unknown_fields: \(rule)
                  required: [r]
                  properties: { a: { properties: { b: {} } } }
                calls: { d: { from: a, post: /d, \(part) } }
            """
        }
        let lines = problems(text("refuse"))
        #expect(
            lines.map { $0.contains(" \(severity ?? "no"): ") } == severity.map { _ in [true] }
                ?? [])
        #expect(problems(text("keep")) == [])
    }

    // MARK: Parameters

    private func unused(
        _ endpoint: String, calls: String = "one: { from: a, get: /1 }", top: String = "",
        route: String = "POST /x/{p}"
    ) -> [String] {
        problems(
            """
            version: 1
            \(top)
            backends: { a: { url: "http://h:1" } }
            endpoints:
              - route: \(route)
                \(endpoint)
                calls: { \(calls) }
            """
        ).compactMap { $0.firstMatch(of: /warning: parameter '(.+)' of .* is not used/) }
            .map { String($0.1) }
    }

    @Test func warnsOfParametersThatNothingUses() {
        let params = "params: { p: { type: integer }, q: {}, H: { in: header } }"
        #expect(unused(params) == ["p", "q", "H"])
        #expect(unused("") == ["p"])
        #expect(unused("", route: "GET /x") == [])
    }

    @Test(arguments: [
        #"one: { from: a, get: "/{p}" }"#, #"one: { from: a, get: "/?p={p}" }"#,
        #"one: { from: a, get: /, headers: { X: "{p}" } }"#,
        #"one: { from: a, post: /, body: { a: "{p}" } }"#,
        "one: { from: a, get: /, when: { param: p } }",
        #"one: { from: a, get: /, when: { not: { any: [{ value: "{request.client}", is: "{p}" }] } } }"#,
    ])
    func aCallUsesAParameter(_ call: String) {
        #expect(unused("", calls: call) == [])
    }

    @Test(arguments: [
        #"headers: { X: "{p}" }"#, "rate_limits: [l]",
        #"rate_limits: [{ limit: n, when: { value: "{p}", is: x } }]"#,
    ])
    func anEndpointUsesAParameter(_ line: String) {
        let limits = #"rate_limits: { l: { rate: 1/s, key: "{p}" }, n: { rate: 1/s } }"#
        #expect(unused(line, top: limits) == [])
        #expect(unused("", top: limits) == ["p"])
    }

    @Test func aRequirementUsesAParameter() {
        let top = "auth: { k: { jwt: { issuer: i, audience: s, keys: { from: a, get: /k } } } }"
        let require = #"require: [{ value: "{p}", is: "{request.caller}" }]"#
        #expect(unused("auth: { any: k, \(require) }", top: top) == [])
        #expect(unused("auth: k", top: top) == ["p"])
    }

    @Test(arguments: [
        ("forward: { query: [q], headers: [h] }", []), ("forward: { query: all }", ["q", "H"]),
        ("unknown_query: refuse", ["H"]),
        (#"headers: { X: "{request.query.q?}{request.header.h?}" }"#, []),
    ])
    func forwardedParametersAreUsed(_ line: String, expected: [String]) {
        let params = "params: { q: {}, H: { in: header } }"
        #expect(unused("\(params)\n    \(line)", route: "GET /x") == expected)
    }

    /// What a proxy passes is used.
    @Test(arguments: [
        ("", "", []), ("", ", path: /x", ["p"]), ("", ", path: \"/x/{p}\"", []),
        ("forward: { headers: [A], query: [z] }", "", ["q", "X-H"]),
        ("forward: { headers: [x-h], query: [q] }", "", []),
        ("forward: { query: all }", ", path: /x", ["p", "X-H"]),
        ("", ", drop_headers: [x-h]", ["X-H"]), ("", ", headers: { X-H: \"1\" }", ["X-H"]),
        ("headers: { X-H: \"1\" }", "", ["X-H"]),
        ("", ", headers: { X-H: \"{X-H}\", X-P: \"{p}\" }, path: /x", []),
        ("", ", headers: { X-A: \"{p}{request.query.q?}{request.header.x-h?}\" }, path: /x", []),
        ("forward: { headers: [A] }", ", headers: { X-A: \"{request.query.q?}\" }", ["X-H"]),
        ("headers: { X-A: \"{p}\" }", ", path: /x, headers: { X-A: \"1\" }", ["p"]),
        ("forward: { headers: [A] }\n    rate_limits: [l]", ", path: /x", ["q", "X-H"]),
    ])
    func aProxyUsesWhatItPasses(_ endpoint: String, _ proxy: String, unused: [String]) {
        let text = """
            version: 1
            backends: { a: { url: "http://h:1" } }
            rate_limits: { l: { rate: 1/s, key: "{p}" } }
            endpoints:
              - route: GET /x/{p}
                params: { q: {}, X-H: { in: header } }
                \(endpoint)
                proxy: { to: a\(proxy) }
            """
        let lines = problems(text).filter { !$0.contains("rate limit 'l'") }
        #expect(
            lines.map { $0.replacing(#/^\d+:\d+: /#, with: "") }
                == unused.map { name in
                    "warning: parameter '\(name)' of GET /x/{p} is not used: 'proxy' does not pass it,"
                        + " and no header, condition or rate limit has {\(name)}"
                })
    }

    /// A proxy does not pass names with `_`, except where it is allowed.
    @Test(arguments: [
        ("", true), (", underscores: pass", false), (", headers: { A: \"{X_H}\" }", false),
    ])
    func aProxyPassesNoUnderscores(_ proxy: String, isUnused: Bool) {
        let lines = problems(
            """
            version: 1
            backends: { a: { url: "http://h:1" } }
            endpoints:
              - route: GET /x
                params: { X_H: { in: header } }
                proxy: { to: a\(proxy) }
            """)
        #expect(
            lines.map { $0.contains("'X_H' of GET /x is not used") } == (isUnused ? [true] : []))
    }

    // MARK: Several problems

    /// Each key of a call with its problem, and with that of another key.
    static let mistakes = [
        "headers: { X: \"{nope}\" }", "timeout: 3", "timeout: 99s", "hedge: { after: 9s }",
        "retry: { backoff: 9s }", "relay_body: true", "keep: [\"a[\"]", "after: [nope]",
        "when: { param: nope }", "if_failed: \"{x.y}\"", "forward: { headers: [Host] }",
        "accept: [900]", "drop: 5", "rename: { a: c, b: c }",
    ]

    @Test(arguments: mistakes, mistakes)
    func noProblemOfACallHidesAnother(_ one: String, _ other: String) {
        let key = { (line: String) in line.prefix { $0 != ":" } }
        guard key(one) != key(other) else { return }
        // These two depend on the time limit that cannot be read.
        let depends = { (line: String) in line.hasPrefix("hedge") || line.hasPrefix("retry") }
        for (line, rest) in [(one, other), (other, one)]
        where depends(line) && rest.hasPrefix("timeout") { return }
        let text = { (lines: String) in
            problems(Snippet.call(lines)).map { $0.replacing(#/^\d+:\d+: /#, with: "") }
        }
        #expect(Set(text("\(one)\n\(other)")) == Set(text(one) + text(other)))
    }

    /// Which bound is the larger one depends on no other key.
    @Test(arguments: [
        "params: { q: { TYPE, min: 5, max: 3, min_length: 5, max_length: 2 } }",
        "body: { properties: { q: { TYPE, min: 5, max: 3, min_length: 5, max_length: 2 } } }",
    ])
    func wrongTypeHidesNoBounds(_ key: String) {
        let found = { (type: String) in
            problems(
                """
                version: 1
                backends: { a: { url: "http://h:1" } }
                endpoints:
                  - route: POST /x
                    \(key.replacing("TYPE", with: type))
                    calls: { one: { from: a, get: "/" } }
                """
            ).filter { $0.contains(" error: ") }
        }
        let lines = found("type: foo")
        #expect(lines.count == 3, "\(lines)")
        #expect(lines.count { $0.contains("is less than its 'min'") } == 1)
        #expect(lines.count { $0.contains("is less than its 'min_length'") } == 1)
        // The type decides about the other rules.
        #expect(found("type: string").count { $0.contains("needs 'type: integer'") } == 2)
    }

    /// The entries of a body, too.
    @Test func noEntryOfABodyHidesAnother() {
        let lines = problems(
            Snippet.call(
                "body: { a: \"{nope}\", b: \"{x\", c: [\"{none}\"] }", method: "post",
                route: "POST /x/{id}"))
        #expect(lines.count == 3, "\(lines)")
    }
}
