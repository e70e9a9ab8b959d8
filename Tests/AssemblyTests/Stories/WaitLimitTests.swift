import Assembly
import Gateway
import Reactor
import Rehearsal
import TestSupport
import Testing
import WorkerSupport

/// `deadline` also ends what a request waits for before its calls: the store of the rate limits, and
/// the keys of an issuer.
@Suite(.watched) struct WaitLimitTests {
    private static let call = "one: { from: a, get: /1 }"

    private func waits(_ harness: GatewayHarness) throws -> [RequestWait?] {
        try #require(harness.instance).snapshot.requests.map(\.wait)
    }

    // MARK: Store

    private func replica(
        _ limit: String, deadline: String, _ endpoint: String = ""
    ) throws -> (GatewayHarness, SimulatedStore) {
        let harness = try GatewayHarness(
            Self.call, endpoint: "deadline: \(deadline)\nrate_limits: [it]\n\(endpoint)",
            top: """
                store: { url: redis://127.0.0.1, timeout: 1s }
                rate_limits: { it: { share: store, rate: 100/s, \(limit) } }
                """)
        let store = SimulatedStore(
            on: harness.outside, at: .ip(.v4(0x7F00_0001), port: 6379))
        try store.start()
        harness.pass(1)
        return (harness, store)
    }

    /// At the deadline `when_down` decides, and no time is left for a call.
    @Test(arguments: [
        ("key: address", "", "504 at 200"),
        ("key: address, when_down: closed", "", "503 at 200"),
        ("key: \"{k}\"", "params: { k: {} }", "504 at 200"),
        ("key: \"{k}\", when_down: closed", "params: { k: {} }", "503 at 200"),
    ])
    func aRequestWaitsForTheStoreUntilItsDeadline(
        _ limit: String, _ endpoint: String, _ outcome: String
    ) throws {
        let (harness, store) = try replica(limit, deadline: "200ms", endpoint)
        // The positive control.
        #expect(try harness.fetch(get("/x?k=1")).status == 200)
        store.set(.frozen)
        let start = harness.ms
        let client = try harness.send(get("/x?k=1"))
        harness.pass(100)
        #expect(try waits(harness) == [.store])
        let response = harness.response(of: client)
        #expect("\(response.status) at \(Int(harness.ms - start))" == outcome)
        store.kill()
        harness.expectQuiet()
    }

    /// Only the store's own `timeout` makes it down, not requests with little time.
    @Test func aDeadlineIsNoFailureOfTheStore() throws {
        let (harness, store) = try replica("key: address", deadline: "20ms")
        store.set(.slow(.milliseconds(30)))
        for _ in 1...5 { #expect(try harness.fetch().status == 504) }
        harness.pass(2_000)
        #expect(!harness.logged.contains { $0.contains(#""msg":"store down""#) })
        // The positive control: longer than `timeout`.
        store.set(.slow(.milliseconds(1_100)))
        for _ in 1...5 { #expect(try harness.fetch().status == 504) }
        harness.pass(2_000)
        #expect(harness.logged.contains { $0.contains(#""msg":"store down""#) })
        store.kill()
        harness.expectQuiet()
    }

    // MARK: Keys

    private func issuer(deadline: String) throws -> GatewayHarness {
        try GatewayHarness(
            Self.call, endpoint: "deadline: \(deadline)\nauth: customers",
            top: """
                auth:
                  customers:
                    jwt:
                      issuer: https://id.test/
                      audience: shop
                      algorithms: [EdDSA]
                      keys: { from: c, get: /jwks }
                """)
    }

    @Test func aRequestWaitsForKeysUntilItsDeadline() throws {
        let harness = try issuer(deadline: "200ms")
        harness.on("/jwks", .hangs)
        let client = try harness.send(get("/x", TestIssuer.bearer()))
        harness.pass(100)
        #expect(try waits(harness) == [.keys])
        let response = harness.response(of: client)
        #expect(response.outcome == "503 at 200")
        #expect(response.body.contains(#""reason":"keys_unavailable""#))
        harness.expectQuiet()
    }

    /// The positive control: keys that arrive before the deadline.
    @Test func keysThatArriveBeforeTheDeadlineAreUsed() throws {
        let harness = try issuer(deadline: "200ms")
        harness.on("/jwks", .ok(TestIssuer.keys("k1"), after: 150))
        #expect(try harness.fetch(get("/x", TestIssuer.bearer())).outcome == "200 at 150")
        #expect(try waits(harness) == [])
        harness.expectQuiet()
    }
}
