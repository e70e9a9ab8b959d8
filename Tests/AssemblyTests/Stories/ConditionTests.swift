import TestSupport
import Testing
import WorkerSupport

/// `when`: conditions over the values of the request. A call whose condition does not hold is left
/// out, which is not a failure.
@Suite(.watched) struct ConditionTests {
    private static let body =
        #"{"user":{"plan":"gold","level":3,"groups":["a","b",3,null],"none":null}}"#
    private static let endpoint = """
        route: POST /x
        params: { n: { type: integer }, lang: { default: en }, f: { type: boolean } }
        """

    /// Whether the call with this condition was made.
    private func isMade(
        _ condition: String, _ body: String = Self.body, _ lines: String...
    ) throws -> Bool {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1 }
            two: { from: b, get: /2, when: \(condition) }
            """, endpoint: Self.endpoint)
        let response = try harness.fetch(
            request(
                "POST", "/x?n=3&f=true&free=x",
                ["X-Plan: gold", "X-Mix: plan-gold", "X-Brace: {gold}"] + lines
                    + ["Content-Length: \(body.utf8.count)"]) + body)
        #expect(response.status == 200 && response["Gateway-Complete"] == "true")
        let isMade = harness.seen.contains { $0.target == "/2" }
        #expect(response.body == (isMade ? #"{"one":"/1","two":"/2"}"# : #"{"one":"/1"}"#))
        harness.expectQuiet()
        return isMade
    }

    static let tests: [(condition: String, isMade: Bool)] = [
        (#"{ value: "{request.header.X-Plan}", is: gold }"#, true),
        (#"{ value: "{request.header.X-Plan}", is: silver }"#, false),
        (#"{ value: "{request.header.X-Plan}", is_not: silver }"#, true),
        (#"{ value: "{request.header.X-Plan}", is_not: gold }"#, false),
        (#"{ value: "{request.header.X-Plan}", one_of: [silver, gold] }"#, true),
        (#"{ value: "{request.header.X-Plan}", one_of: [silver, bronze] }"#, false),
        (#"{ value: "{request.header.X-Plan}", exists: true }"#, true),
        (#"{ value: "{request.header.X-Plan}", exists: false }"#, false),
        (#"{ value: "{request.client}", is: 127.0.0.1 }"#, true),
        (#"{ value: "{request.client}", is: 127.0.0.2 }"#, false),
        (#"{ value: "{request.query.free}", is: x }"#, true),
        (#"{ value: "{request.query.free}", is: y }"#, false),
        (#"{ value: "{lang}", is: en }"#, true), (#"{ value: "{lang}", is: de }"#, false),
        // Doubled braces are literal.
        (#"{ value: "{request.header.X-Brace}", is: "{{gold}}" }"#, true),
        (#"{ value: "{request.header.X-Plan}", is: "{{gold}}" }"#, false),
    ]

    @Test(arguments: tests) func valueIsTested(_ condition: String, _ isExpected: Bool) throws {
        #expect(try isMade(condition) == isExpected)
    }

    /// A missing value, and null, satisfy `exists: false` only.
    static let missing = [
        "is: x", "is_not: x", "one_of: [x]", "has: x", "has_any: [x]", "exists: true",
    ]

    @Test(arguments: ["request.header.X-None", "request.body.user.none", "request.body.nothing"])
    func missingValueSatisfiesNoOtherTest(_ reference: String) throws {
        for test in Self.missing {
            #expect(try !isMade(#"{ value: "{\#(reference)}", \#(test) }"#), "\(test)")
        }
        #expect(try isMade(#"{ value: "{\#(reference)}", exists: false }"#))
    }

    /// The control: the same tests of a value that exists.
    @Test func presentValueSatisfiesTheOtherTests() throws {
        #expect(try isMade(#"{ value: "{request.header.X-Plan}", is_not: x }"#))
        #expect(try isMade(#"{ value: "{request.body.user.plan}", exists: true }"#))
        #expect(try isMade(#"{ value: "{request.body.user.groups}", has: a }"#))
    }

    /// A missing right side satisfies nothing either.
    static let rights: [(condition: String, isMade: Bool)] = [
        (#"{ value: "{request.body.user.plan}", is: "{request.header.X-Plan}" }"#, true),
        (#"{ value: "{request.body.user.plan}", is_not: "{request.header.X-Plan}" }"#, false),
        (#"{ value: "{request.body.user.plan}", is: "{request.header.X-None}" }"#, false),
        (#"{ value: "{request.body.user.plan}", is_not: "{request.header.X-None}" }"#, false),
        (
            #"{ value: "{request.body.user.plan}", one_of: ["{request.header.X-None}", gold] }"#,
            true
        ),
        (#"{ value: "{request.header.X-Mix}", is: "plan-{request.body.user.plan}" }"#, true),
        (#"{ value: "{request.header.X-Plan}", is: "plan-{request.body.user.plan}" }"#, false),
        (#"{ value: "{request.header.X-Mix}", is: "plan-{request.header.X-None}" }"#, false),
        (#"{ value: "{request.body.user.level}", is: "{n}" }"#, true),
        (#"{ value: "{request.query.n}", is: "{n}" }"#, false),
        (#"{ value: "{request.body.user.groups}", has: "{n}" }"#, true),
        (#"{ value: "{request.body.user.groups}", has: "{request.query.n}" }"#, false),
    ]

    @Test(arguments: rights) func rightSideCanBeAReference(
        _ condition: String, _ isExpected: Bool
    ) throws {
        #expect(try isMade(condition) == isExpected)
    }

    /// Types count: 3 is not "3". Numbers are equal in any spelling.
    static let types: [(condition: String, isMade: Bool)] = [
        (#"{ value: "{n}", is: 3 }"#, true), (#"{ value: "{n}", is: 3.0 }"#, true),
        (#"{ value: "{n}", is: 4 }"#, false), (#"{ value: "{n}", is: "3" }"#, false),
        (#"{ value: "{request.query.n}", is: "3" }"#, true),
        (#"{ value: "{request.query.n}", is: 3 }"#, false),
        (#"{ value: "{f}", is: true }"#, true), (#"{ value: "{f}", is: false }"#, false),
        (#"{ value: "{f}", is: "true" }"#, false),
        (#"{ value: "{request.body.user.level}", is: 3 }"#, true),
        (#"{ value: "{request.body.user.level}", is: 3e0 }"#, true),
        (#"{ value: "{request.body.user.level}", is: "3" }"#, false),
        (#"{ value: "{request.body.user.level}", is_not: "3" }"#, true),
        (#"{ value: "{request.body.user.level}", one_of: ["3", 3] }"#, true),
        (#"{ value: "{request.body.user}", is: x }"#, false),
        (#"{ value: "{request.body.user}", is_not: x }"#, true),
        (#"{ value: "{request.body}", exists: true }"#, true),
    ]

    @Test(arguments: types) func typesCount(_ condition: String, _ isExpected: Bool) throws {
        #expect(try isMade(condition) == isExpected)
    }

    @Test func bodyThatIsNotJSONHasNoValues() throws {
        #expect(try !isMade(#"{ value: "{request.body}", exists: true }"#, "text"))
        #expect(try !isMade(#"{ value: "{request.body.user}", exists: true }"#, "text"))
        #expect(try isMade(#"{ value: "{request.body}", exists: true }"#, #""text""#))
    }

    static let members: [(test: String, isMade: Bool)] = [
        ("has: a", true), ("has: c", false), ("has: 3", true), (#"has: "3""#, false),
        ("has_any: [x, b]", true), ("has_any: [x, y]", false),
    ]

    @Test(arguments: members) func hasIsMembershipInAnArray(_ test: String, _ isExpected: Bool)
        throws
    {
        #expect(try isMade(#"{ value: "{request.body.user.groups}", \#(test) }"#) == isExpected)
        // A text is not an array, whatever it contains.
        #expect(try !isMade(#"{ value: "{request.body.user.plan}", has: gold }"#))
    }

    private static let yes = #"{ value: "{request.header.X-Plan}", is: gold }"#
    private static let no = #"{ value: "{request.header.X-Plan}", is: silver }"#

    static let combinations: [(condition: String, isMade: Bool)] = [
        ("{ all: [\(yes), \(yes)] }", true), ("{ all: [\(yes), \(no)] }", false),
        ("{ any: [\(no), \(yes)] }", true), ("{ any: [\(no), \(no)] }", false),
        ("{ not: \(no) }", true), ("{ not: \(yes) }", false),
        ("{ all: [\(yes), { any: [\(no), { not: \(no) }] }] }", true),
        ("{ all: [\(yes), { any: [\(no), { not: \(yes) }] }] }", false),
        ("{ all: [\(yes)] }", true), ("{ any: [\(no)] }", false),
        // A negation holds where its condition does not, also because a value is missing.
        (#"{ not: { value: "{request.header.X-None}", is: x } }"#, true),
    ]

    @Test(arguments: combinations) func conditionsCanBeCombined(
        _ condition: String, _ isExpected: Bool
    ) throws {
        #expect(try isMade(condition) == isExpected)
    }

    /// The short form: a default does not count as sent, but is compared, as text.
    @Test(arguments: [
        ("{ param: n }", true), ("{ param: lang }", false), ("{ param: lang, is: en }", true),
        ("{ param: lang, is: de }", false), ("{ param: n, is: 3 }", true),
        ("{ param: n, is: 4 }", false), ("{ not: { param: lang } }", true),
    ])
    func paramIsTested(_ condition: String, _ isExpected: Bool) throws {
        #expect(try isMade(condition) == isExpected)
    }

    @Test func everyCallCanBeLeftOut() throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1, when: { value: "{request.header.X}", exists: true } }
            two: { from: b, get: /2, when: { value: "{one}", exists: true } }
            """)
        #expect(try harness.fetch().summary == "200 at 0 {}")
        #expect(try harness.fetch(get("/x", "X: 1")).body == #"{"one":"/1","two":"/2"}"#)
        harness.expectQuiet()
    }

    /// The path of a call that is not made cannot be wrong.
    @Test(arguments: [("gold", 400), ("silver", 200)])
    func pathOfADisabledCallIsNotChecked(_ plan: String, _ status: Int) throws {
        let harness = try GatewayHarness(
            """
            one: { from: a, get: /1 }
            two: { from: b, get: "/{request.header.X-Id}", when: \(Self.yes) }
            """)
        #expect(
            try harness.fetch(get("/x", "X-Plan: \(plan)", "X-Id: ..")).status == status)
        harness.expectQuiet()
    }
}
