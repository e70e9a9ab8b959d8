import Basics
import RESP
import Reactor
import Testing

@testable import Gateway

/// The block `store`: its values, its checks, and its plan.
@Suite struct StoreConfigTests {
    private func plan(_ store: String, environment: [String: String] = [:]) throws -> StorePlan {
        let limit = "rate_limits: { it: { rate: 1/s, share: store } }"
        let (config, problems) = load(
            ["c.yaml": Snippet.top("store: \(store)\n\(limit)")], environment: environment)
        let plan = try Planner.plan(try #require(config, "\(problems.lines)"), processors: 1)
        return try #require(plan.store)
    }

    @Test func defaultsAreFiftyMillisecondsAndOneSecond() throws {
        let plan = try plan("{ url: redis://limits.internal }")
        #expect(plan.settings.destination == .host("limits.internal", port: 6379))
        #expect(plan.settings.timeout == .milliseconds(50))
        #expect(plan.settings.connectTimeout == .seconds(1))
        #expect(plan.settings.database == 0 && plan.settings.credentials == nil)
        #expect(plan.settings.security == nil)
        #expect(plan.keyPrefix == Bytes("tributary:limit:"))
    }

    @Test func everyValueIsInThePlan() throws {
        let plan = try plan(
            """
            { url: "redis://[::1]:7000/3", username: shop, password: "${P}", prefix: a, timeout: 20ms, connect_timeout: 2s }
            """, environment: ["P": "p w"])
        #expect(plan.settings.destination == .host("::1", port: 7000))
        #expect(plan.settings.database == 3)
        #expect(
            plan.settings.credentials
                == RESPCredentials(user: Bytes("shop"), password: Bytes("p w")))
        #expect(plan.settings.timeout == .milliseconds(20))
        #expect(plan.settings.connectTimeout == .seconds(2))
        #expect(plan.keyPrefix == Bytes("a:limit:"))
        #expect(plan.url == "redis://[::1]:7000/3")
    }

    @Test func aSocketAndASecureStoreAreAccepted() throws {
        let socket = try plan("{ url: unix:/run/redis.sock }")
        #expect(socket.settings.destination == .unix(path: "/run/redis.sock"))
        let secure = try plan("{ url: rediss://h, tls: { verify: false } }")
        #expect(secure.settings.security != nil)
    }

    @Test(arguments: [
        ("prefix: a", "the key 'url' is missing in 'store'"),
        ("url: http://h", "must begin with redis://, rediss:// or unix:/"),
        ("url: redis://u:p@h", "must not contain a user name or password; use 'username'"),
        ("url: redis://h/x", "may have only the number of a database after its host"),
        ("url: redis://h/1/2", "may have only the number of a database after its host"),
        ("url: redis://h:0", "has no valid port"),
        ("url: unix:run", "must be unix: and an absolute path"),
        ("url: redis://h, username: a", "'username' of 'store' needs 'password'"),
        ("url: redis://h, username: \"a b\", password: p", "must be a name of 1 to 128"),
        ("url: redis://h, prefix: \"a b\"", "must be 1 to 128 printable ASCII characters"),
        ("url: redis://h, tls: { verify: false }", "'tls' of 'store' needs a host with rediss://"),
        ("url: redis://h, timeout: 0s", "'timeout' in 'store' must be"),
        ("url: redis://h, timeout: 1001ms", "'timeout' of 'store' must be at most 1s"),
    ])
    func invalidValuesAreRefused(_ store: String, _ message: String) {
        let (config, problems) = load(["c.yaml": Snippet.top("store: { \(store) }")])
        #expect(config == nil)
        #expect(problems.lines.contains { $0.contains(message) }, "\(problems.lines)")
    }

    /// Keys about replicas have no effect on a limit that is not shared, also where a share could not
    /// be counted.
    @Test(arguments: ["replicas: 400", "sync: 1s", "when_down: open"])
    func aLimitThatIsNotSharedHasAPlan(_ key: String) throws {
        let text = "rate_limits: { it: { rate: 1/d, \(key) } }"
        let (config, problems) = load(["c.yaml": Snippet.top(text)])
        #expect(problems.lines.contains { $0.contains("has no effect without 'share: store'") })
        let plan = try Planner.plan(try #require(config, "\(problems.lines)"), processors: 1)
        let limit = try #require(plan.limits.first)
        #expect(!limit.isShared && limit.rates.map(\.spelled) == ["1/d"])
    }

    @Test func aSharedLimitWhoseShareCannotBeCountedIsAnError() {
        let text = "rate_limits: { it: { rate: 1/d, share: store, replicas: 400 } }"
        let (config, problems) = load(["c.yaml": Snippet.top("store: { url: redis://h }\n\(text)")])
        #expect(config == nil)
        #expect(problems.lines.contains { $0.contains("one of 400 replicas needs more than 366") })
    }

    @Test func timeoutMayBeASecond() throws {
        #expect(try plan("{ url: redis://h, timeout: 1s }").settings.timeout == .seconds(1))
    }

    @Test func aWrittenPasswordIsAWarning() {
        let written = load(["c.yaml": Snippet.top("store: { url: redis://h, password: p }")])
        #expect(written.problems.lines.contains { $0.contains("'password' of 'store' is written") })
        let variable = load(
            ["c.yaml": Snippet.top("store: { url: redis://h, password: \"${P}\" }")],
            environment: ["P": "p"])
        #expect(!variable.problems.lines.contains { $0.contains("is written") })
    }

    /// Another plan is another connection.
    @Test func equalSettingsGiveEqualPlans() throws {
        let one = try plan("{ url: redis://h, password: p }")
        #expect(try plan("{ url: redis://h, password: p }") == one)
        #expect(try plan("{ url: redis://h, password: q }") != one)
        #expect(try plan("{ url: redis://h, password: p, prefix: a }") != one)
    }
}
