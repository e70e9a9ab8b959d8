import Assembly
import Gateway
import TestSupport
import Testing
import WorkerSupport

/// `when` of a rate limit, in virtual time: a limit whose condition does not hold is neither charged
/// nor announced, and refuses nothing.
@Suite(.watched) struct LimitConditionTests {
    /// The status, and the names of the limits that are announced.
    private func outcome(_ harness: GatewayHarness, _ text: String = get()) throws -> String {
        let response = try harness.fetch(text)
        let names = (response["RateLimit"] ?? "").matches(of: /"(\w+)"/).map { String($0.1) }
        return ([String(response.status)] + names).joined(separator: " ")
    }

    private func granted(_ harness: GatewayHarness) throws -> [String] {
        try #require(harness.instance?.snapshot.limitUsages).map {
            "\($0.name) \($0.granted) \($0.refused) \($0.refunded)"
        }
    }

    @Test func conditionOnAHeader() throws {
        let harness = try GatewayHarness.limited(
            "all: { rate: 5/m, key: address }, bulk: { rate: 1/m, key: address }",
            "[all, { limit: bulk, when: { value: \"{request.header.X-Bulk}\", is: \"yes\" } }]")
        let bulk = get("/x", "X-Bulk: yes")
        #expect(try outcome(harness, bulk) == "200 all bulk")
        #expect(try outcome(harness, bulk) == "429 bulk")
        // Neither another value nor a missing one is charged.
        #expect(try outcome(harness, get("/x", "X-Bulk: no")) == "200 all")
        #expect(try outcome(harness) == "200 all")
        #expect(try granted(harness) == ["all 4 0 1", "bulk 1 1 0"])
        #expect(try outcome(harness) == "200 all")
        #expect(try outcome(harness) == "200 all")
        // The other limit refuses, and the condition keeps its meaning.
        #expect(try outcome(harness) == "429 all")
        #expect(try outcome(harness, bulk) == "429 all bulk")
        harness.expectQuiet()
    }

    /// The key of the limit is known before the caller: the condition makes it wait for the
    /// authentication.
    @Test func conditionOnTheCaller() throws {
        let harness = try GatewayHarness.limited(
            "it: { rate: 1/m, key: address }",
            "[{ limit: it, when: { value: \"{request.caller}\", is_not: ci } }]", "auth: keys",
            top: "auth: { keys: { api_key: { header: X-Api-Key, keys: keys.yaml } } }",
            files: ["keys.yaml": Keys.entry("ann", "key-of-ann") + Keys.entry("ci", "key-of-ci")])
        #expect(try outcome(harness) == "401", "not charged without a credential")
        for _ in 0..<3 { #expect(try outcome(harness, get("/x", "X-Api-Key: key-of-ci")) == "200") }
        #expect(try outcome(harness, get("/x", "X-Api-Key: key-of-ann")) == "200 it")
        #expect(try outcome(harness, get("/x", "X-Api-Key: key-of-ann")) == "429 it")
        #expect(try outcome(harness, get("/x", "X-Api-Key: key-of-ci")) == "200")
        harness.expectQuiet()
    }

    @Test func conditionOnAClaim() throws {
        let harness = try GatewayHarness.limited(
            "free: { rate: 1/m, key: caller }",
            "[{ limit: free, when: { not: { value: \"{token.plan}\", is: gold } } }]",
            "auth: customers",
            top: """
                auth:
                  customers:
                    jwt: { issuer: "https://id.test/", audience: shop, algorithms: [EdDSA], keys: { file: keys.json } }
                """, files: ["keys.json": TestIssuer.keys("k1")])
        let gold = get("/x", TestIssuer.bearer(["plan": "\"gold\""]))
        for _ in 0..<3 { #expect(try outcome(harness, gold) == "200") }
        for plan in ["\"tin\"", ""] {
            let name = "\"ben\(plan.count)\""
            let line = get("/x", TestIssuer.bearer(["plan": plan, "sub": name]))
            #expect(try outcome(harness, line) == "200 free")
            #expect(try outcome(harness, line) == "429 free")
        }
        harness.expectQuiet()
    }

    /// Parameters are known after validation: a limit by address then stands there, too.
    @Test(arguments: [
        "{ param: full }", "{ value: \"{full}\", is: true }",
        "{ any: [{ value: \"{request.client}\", is: 192.0.2.1 }, { param: full, is: \"true\" }] }",
    ])
    func conditionOnAParameter(_ condition: String) throws {
        let harness = try GatewayHarness.limited(
            "it: { rate: 1/m, key: address }", "[{ limit: it, cost: 1, when: \(condition) }]",
            "params: { full: { type: boolean } }")
        #expect(try outcome(harness, get("/x")) == "200")
        #expect(try outcome(harness, get("/x?full=yes")) == "400", "validated before it is charged")
        #expect(try outcome(harness, get("/x?full=true")) == "200 it")
        #expect(try outcome(harness, get("/x?full=true")) == "429 it")
        #expect(try outcome(harness, get("/x")) == "200")
        harness.expectQuiet()
    }

    @Test func conditionOnTheBody() throws {
        let harness = try GatewayHarness.limited(
            "it: { rate: 1/m }",
            "[{ limit: it, when: { value: \"{request.body.items}\", has: 7 } }]",
            "route: POST /x", call: "one: { from: a, post: /1, body: \"{request.body}\" }")
        #expect(try outcome(harness, post("{\"items\":[1]}")) == "200")
        #expect(try outcome(harness, post("{\"items\":[7]}")) == "200 it")
        #expect(try outcome(harness, post("{\"items\":[1,7]}")) == "503 it")
        #expect(try outcome(harness, post("{}")) == "200")
        harness.expectQuiet()
    }

    /// A refusal at a later position refunds only what was charged.
    @Test func refundsOnlyWhatWasCharged() throws {
        let harness = try GatewayHarness.limited(
            "early: { rate: 3/m, key: address }, late: { rate: 1/m, key: \"{k}\" }",
            "[{ limit: early, when: { value: \"{request.header.X-E}\", exists: true } }, late]",
            "params: { k: {} }")
        #expect(try outcome(harness, get("/x?k=a")) == "200 late")
        #expect(try outcome(harness, get("/x?k=a")) == "429 late")
        #expect(try outcome(harness, get("/x?k=a", "X-E: 1")) == "429 late")
        #expect(try outcome(harness, get("/x?k=b", "X-E: 1")) == "200 early late")
        #expect(try granted(harness) == ["early 2 0 1", "late 2 2 0"])
        harness.expectQuiet()
    }
}
