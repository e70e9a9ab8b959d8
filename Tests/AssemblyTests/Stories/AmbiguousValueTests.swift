import TestSupport
import Testing
import WorkerSupport

/// Values that a backend may read differently than the gateway: a header or a query parameter that is
/// sent several times, or that cannot be decoded. `require` refuses them, and a limit counts them.
@Suite(.watched) struct AmbiguousValueTests {
    private static let call = "one: { from: a, get: /1 }"
    private static let top = "auth: { keys: { api_key: { header: X-Api-Key, keys: keys.yaml } } }"
    private static let files = ["keys.yaml": Keys.entry("ann", "key-of-ann")]
    private static let key = "X-Api-Key: key-of-ann"

    private func harness(require: String) throws -> GatewayHarness {
        try GatewayHarness(
            Self.call,
            endpoint: """
                auth: { any: [keys], require: [\(require)] }
                forward: { headers: [X-Role], query: [role] }
                """, top: Self.top, files: Self.files)
    }

    /// Each condition, and a request that meets it.
    static let conditions: [(String, String, [String])] = [
        (#"{ value: "{request.header.X-Role}", is: user }"#, "/x", ["X-Role: user"]),
        (#"{ value: "{request.header.X-Role}", is_not: admin }"#, "/x", ["X-Role: user"]),
        (#"{ value: "{request.header.X-Role}", exists: false }"#, "/x", []),
        (#"{ not: { value: "{request.header.X-Role}", is: admin } }"#, "/x", []),
        (#"{ value: "{request.query.role}", is: user }"#, "/x?role=user", []),
        (#"{ value: "{request.query.role}", exists: false }"#, "/x", []),
        (#"{ not: { value: "{request.query.role}", is: admin } }"#, "/x", []),
        (
            #"{ all: [{ not: { value: "{request.query.role}", is: admin } }] }"#, "/x?role=user", []
        ),
    ]

    private static let ambiguous: [(String, [String])] = [
        ("/x?role=user&role=admin", ["X-Role: user", "X-Role: admin"]),
        ("/x?role=admin&role=user", ["X-Role: admin", "X-Role: user"]),
        ("/x?role=admin%", ["X-Role: user", "X-Role:"]),
    ]

    @Test(arguments: conditions)
    func noConditionHoldsForAnAmbiguousValue(
        _ condition: String, _ target: String, _ lines: [String]
    ) throws {
        let harness = try harness(require: condition)
        // The positive control: the value once, or not at all.
        #expect(try harness.fetch(request("GET", target, lines + [Self.key])).status == 200)
        for (target, lines) in Self.ambiguous {
            let response = try harness.fetch(request("GET", target, lines + [Self.key]))
            #expect(response.status == 403, "\(target)")
            #expect(response.body.contains(#""reason":"claims""#))
        }
        #expect(harness.seen.count == 1)
        harness.expectQuiet()
    }

    /// Of `any`, another condition may hold without the value.
    @Test func anAmbiguousValueDoesNotSpoilOtherConditions() throws {
        let harness = try harness(
            require: #"{ any: [{ value: "{request.header.X-Role}", is: user },"#
                + #" { value: "{request.caller}", is: ann }] }"#)
        let twice = request("GET", "/x", ["X-Role: user", "X-Role: admin", Self.key])
        #expect(try harness.fetch(twice).status == 200)
        harness.expectQuiet()
    }

    /// A limit that a client could avoid with a second header would limit nothing.
    @Test(arguments: [
        #"{ value: "{request.header.X-Bulk}", is: "yes" }"#,
        #"{ not: { value: "{request.header.X-Bulk}", is: "no" } }"#,
    ])
    func aLimitAppliesWithAnAmbiguousValue(_ condition: String) throws {
        let harness = try GatewayHarness(
            Self.call, endpoint: "rate_limits: [{ limit: bulk, when: \(condition) }]",
            top: "rate_limits: { bulk: { rate: 1/m, key: address } }")
        // The positive control: the condition fails.
        #expect(try harness.fetch(get("/x", "X-Bulk: no")).status == 200)
        #expect(try harness.fetch(get("/x", "X-Bulk: no")).status == 200)
        #expect(try harness.fetch(get("/x", "X-Bulk: no", "X-Bulk: yes")).status == 200)
        #expect(try harness.fetch(get("/x", "X-Bulk: no", "X-Bulk: yes")).status == 429)
        harness.expectQuiet()
    }
}
