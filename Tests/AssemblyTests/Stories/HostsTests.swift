import TestSupport
import Testing

/// A backend of several hosts: the less busy one is used, and one that refuses is passed over.
@Suite(.watched) struct HostsTests {
    static let hosts = #"urls: ["http://127.0.0.1:7001", "http://127.0.0.1:7002"]"#
    static let call = "one: { from: a, get: /1, required: true }"

    @Test func equalHostsTakeTurnsFromTheFirstOn() throws {
        let stage = try Stage(Self.call, backend: Self.hosts)
        for _ in 1...4 { _ = try stage.ask() }
        #expect(stage.seen.map(\.port) == [7001, 7002, 7001, 7002])
        stage.expectQuiet()
    }

    @Test func theLessBusyHostIsUsed() throws {
        let stage = try Stage(Self.call, backend: Self.hosts)
        stage.on("/1", .ok("1", after: 500), .ok("1"))
        _ = try stage.send(get())
        for _ in 1...3 { _ = try stage.ask() }
        #expect(stage.seen.map(\.port) == [7001, 7002, 7002, 7002])
        stage.expectQuiet()
    }

    @Test func roundRobinLooksAtNothing() throws {
        let stage = try Stage(Self.call, backend: Self.hosts + ", balance: round_robin")
        stage.on("/1", .ok("1", after: 500), .ok("1"))
        _ = try stage.send(get())
        for _ in 1...3 { _ = try stage.ask() }
        #expect(stage.seen.map(\.port) == [7001, 7002, 7001, 7002])
        stage.expectQuiet()
    }

    @Test func aHostThatRefusesIsPassedOverAtOnce() throws {
        let stage = try Stage(Self.call, backend: Self.hosts)
        stage.backend(7001)?.refuse()
        #expect(
            try (1...4).map { _ in try stage.ask().outcome }
                == Array(repeating: "200 at 0", count: 4))
        #expect(stage.seen.map(\.port) == [7002, 7002, 7002, 7002])
        stage.expectQuiet()
    }

    @Test func aPostIsPassedOnTooForNothingWasSent() throws {
        let stage = try Stage(
            "one: { from: a, post: /1 }", endpoint: "route: POST /x", backend: Self.hosts)
        stage.backend(7001)?.refuse()
        #expect(try stage.ask(post("1")).status == 200)
        stage.expectQuiet()
    }

    @Test func aHostThatDoesNotAnswerTheConnectionIsPassedOver() throws {
        let stage = try Stage(Self.call, backend: Self.hosts + ", connect_timeout: 100ms")
        stage.silence(7001)
        #expect(try stage.ask().outcome == "200 at 100")
        stage.expectQuiet()
    }

    @Test func aHostThatFailsLaterIsNot() throws {
        let stage = try Stage(Self.call, backend: Self.hosts)
        stage.on("/1", .closes())
        #expect(try stage.ask().status == 502)
        #expect(stage.seen.map(\.port) == [7001])
        stage.expectQuiet()
    }

    @Test func whenAllRefuseTheCallFails() throws {
        let stage = try Stage(Self.call, backend: Self.hosts)
        stage.backend(7001)?.refuse()
        stage.backend(7002)?.refuse()
        let answer = try stage.ask()
        #expect(answer.outcome == "502 at 0")
        #expect(answer.failures == #"[{"call":"one","kind":"connection_refused"}]"#)
        stage.expectQuiet()
    }

    @Test func aPathOfTheURLStandsBeforeThatOfTheCall() throws {
        let stage = try Stage(Self.call, backend: #"urls: ["http://127.0.0.1:7001/v1/"]"#)
        _ = try stage.ask()
        #expect(stage.seen.map(\.target) == ["/v1/1"])
        #expect(stage.seen.map { $0["Host"] } == ["127.0.0.1:7001"])
        stage.expectQuiet()
    }
}
