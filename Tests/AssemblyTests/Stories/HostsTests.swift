import TestSupport
import Testing

/// A backend of several hosts: the less busy one is used, and one that refuses is passed over.
@Suite(.watched) struct HostsTests {
    static let hosts = #"urls: ["http://127.0.0.1:7001", "http://127.0.0.1:7002"]"#
    static let call = "one: { from: a, get: /1, required: true }"

    @Test func equalHostsTakeTurnsFromTheFirstOn() throws {
        let harness = try GatewayHarness(Self.call, backend: Self.hosts)
        for _ in 1...4 { _ = try harness.ask() }
        #expect(harness.seen.map(\.port) == [7001, 7002, 7001, 7002])
        harness.expectQuiet()
    }

    @Test func theLessBusyHostIsUsed() throws {
        let harness = try GatewayHarness(Self.call, backend: Self.hosts)
        harness.on("/1", .ok("1", after: 500), .ok("1"))
        _ = try harness.send(get())
        for _ in 1...3 { _ = try harness.ask() }
        #expect(harness.seen.map(\.port) == [7001, 7002, 7002, 7002])
        harness.expectQuiet()
    }

    @Test func roundRobinLooksAtNothing() throws {
        let harness = try GatewayHarness(Self.call, backend: Self.hosts + ", balance: round_robin")
        harness.on("/1", .ok("1", after: 500), .ok("1"))
        _ = try harness.send(get())
        for _ in 1...3 { _ = try harness.ask() }
        #expect(harness.seen.map(\.port) == [7001, 7002, 7001, 7002])
        harness.expectQuiet()
    }

    @Test func aHostThatRefusesIsPassedOverAtOnce() throws {
        let harness = try GatewayHarness(Self.call, backend: Self.hosts)
        harness.backend(7001)?.refuse()
        #expect(
            try (1...4).map { _ in try harness.ask().outcome }
                == Array(repeating: "200 at 0", count: 4))
        #expect(harness.seen.map(\.port) == [7002, 7002, 7002, 7002])
        harness.expectQuiet()
    }

    @Test func aPostIsPassedOnTooForNothingWasSent() throws {
        let harness = try GatewayHarness(
            "one: { from: a, post: /1 }", endpoint: "route: POST /x", backend: Self.hosts)
        harness.backend(7001)?.refuse()
        #expect(try harness.ask(post("1")).status == 200)
        harness.expectQuiet()
    }

    @Test func aHostThatDoesNotAnswerTheConnectionIsPassedOver() throws {
        let harness = try GatewayHarness(
            Self.call, backend: Self.hosts + ", connect_timeout: 100ms")
        harness.silence(7001)
        #expect(try harness.ask().outcome == "200 at 100")
        harness.expectQuiet()
    }

    @Test func aHostThatFailsLaterIsNot() throws {
        let harness = try GatewayHarness(Self.call, backend: Self.hosts)
        harness.on("/1", .closes())
        #expect(try harness.ask().status == 502)
        #expect(harness.seen.map(\.port) == [7001])
        harness.expectQuiet()
    }

    @Test func whenAllRefuseTheCallFails() throws {
        let harness = try GatewayHarness(Self.call, backend: Self.hosts)
        harness.backend(7001)?.refuse()
        harness.backend(7002)?.refuse()
        let answer = try harness.ask()
        #expect(answer.outcome == "502 at 0")
        #expect(answer.failures == #"[{"call":"one","kind":"connection_refused"}]"#)
        harness.expectQuiet()
    }

    @Test func aPathOfTheURLStandsBeforeThatOfTheCall() throws {
        let harness = try GatewayHarness(
            Self.call, backend: #"urls: ["http://127.0.0.1:7001/v1/"]"#)
        _ = try harness.ask()
        #expect(harness.seen.map(\.target) == ["/v1/1"])
        #expect(harness.seen.map { $0["Host"] } == ["127.0.0.1:7001"])
        harness.expectQuiet()
    }
}
