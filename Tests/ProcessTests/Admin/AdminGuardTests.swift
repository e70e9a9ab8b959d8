import Assembly
import Basics
import HTTP
import Testing

@testable import Process

/// DNS rebinding and cross-site requests against the admin address.
@Suite struct AdminGuardTests {
    static let adminGuard = AdminGuard(hosts: ["ops.example.com", "Gateway_1"])

    private func refusal(
        _ method: Method = .get, _ target: String = "/metrics", host: String? = "localhost",
        _ fields: (FieldName, FieldValue)...
    ) throws -> AdminGuard.Refusal? {
        var all = Fields()
        if let host { all.append(.host, try #require(FieldValue(host))) }
        for (name, value) in fields { all.append(name, value) }
        let head = RequestHead(method: method, target: try #require(Target(target)), fields: all)
        return Self.adminGuard.refusal(of: head)
    }

    // MARK: Host

    @Test(arguments: [
        "localhost", "LOCALHOST:9901", "127.0.0.1", "127.0.0.1:9901", "10.2.3.4:9901", "[::1]",
        "[::1]:9901", "[2001:DB8::7]:80", "ops.example.com", "OPS.example.com:443", "gateway_1",
        "localhost:", "gateway", "Gateway-2:9901",
        "gateway.shop.svc.cluster.local:9901", "gateway.test", "ops.internal", "nas.home.arpa",
        "x.localhost",
    ])
    func acceptsAddressesLocalNamesAndConfiguredNames(_ host: String) throws {
        #expect(try refusal(host: host) == nil)
        #expect(try refusal(.post, "/-/reload", host: host) == nil)
    }

    @Test(arguments: [
        "evil.example", "evil.example:9901", "localhost.evil.example", "127.0.0.1.evil.example",
        "localhost.", "example.com", "x.ops.example.com", "", "127.1", "010.0.0.1", "0x7f.0.0.1",
        "2130706433", "::1", "[127.0.0.1]", "gateway.", "g%61teway",
        "evil.local.example", "home.arpa", "..local", "a..test", "evil.example.",
        "127.0.0.1.local.",
    ])
    func refusesOtherHostsAsMisdirected(_ host: String) throws {
        #expect(try refusal(host: host) == .misdirected)
        #expect(try refusal(.post, "/-/reload", host: host) == .misdirected)
    }

    @Test func refusesRequestWithoutHost() throws {
        #expect(try refusal(host: nil) == .misdirected)
    }

    @Test func hostOfAbsoluteTargetTakesPrecedence() throws {
        #expect(try refusal(.get, "http://evil.example/metrics") == .misdirected)
        #expect(try refusal(.get, "http://localhost:9901/metrics", host: "evil.example") == nil)
    }

    @Test(arguments: ["/livez", "/readyz", "/livez?verbose", "http://evil.example/readyz"])
    func acceptsAnyHostForProbes(_ target: String) throws {
        #expect(try refusal(.get, target, host: "evil.example") == nil)
        #expect(try refusal(.get, target, host: nil) == nil)
    }

    // MARK: Origin

    @Test(
        arguments: [
            ("localhost:9901", "http://localhost:9901"),
            ("localhost:9901", "HTTP://LocalHost:9901"),
            ("[::1]:9901", "http://[::1]:9901"), ("10.0.0.1", "http://10.0.0.1"),
            ("10.0.0.1:80", "http://10.0.0.1"), ("ops.example.com", "https://ops.example.com"),
            ("ops.example.com", "https://ops.example.com:443"),
        ] as [(String, FieldValue)])
    func acceptsItsOwnOrigin(_ host: String, _ origin: FieldValue) throws {
        #expect(try refusal(.post, "/-/reload", host: host, ("Origin", origin)) == nil)
        #expect(try refusal(.get, "/metrics", host: host, ("Origin", origin)) == nil)
    }

    @Test(
        arguments: [
            "http://evil.example", "null", "http://localhost:3000", "http://localhost", "",
            "https://localhost:9901.evil.example", "http://evil.example/localhost:9901",
            "file://", "localhost:9901",
        ] as [FieldValue])
    func refusesForeignOrigin(_ origin: FieldValue) throws {
        for (method, target) in [(Method.post, "/-/reload"), (.get, "/metrics"), (.get, "/livez")] {
            #expect(
                try refusal(method, target, host: "localhost:9901", ("Origin", origin))
                    == .crossSite)
        }
    }

    @Test func refusesSecondForeignOrigin() throws {
        #expect(
            try refusal(
                .post, "/-/reload", host: "localhost", ("Origin", "http://localhost"),
                ("Origin", "http://evil.example")) == .crossSite)
    }

    // MARK: Sec-Fetch-Site

    @Test(arguments: ["cross-site", "same-site", "Cross-Site", "anything"] as [FieldValue])
    func refusesCrossSiteChanges(_ site: FieldValue) throws {
        #expect(try refusal(.post, "/-/reload", ("Sec-Fetch-Site", site)) == .crossSite)
        // A link to the page, which reveals nothing to the site that contains it.
        #expect(try refusal(.get, "/metrics", ("Sec-Fetch-Site", site)) == nil)
    }

    @Test(arguments: ["same-origin", "none"] as [FieldValue])
    func acceptsChangesOfTheSameOrigin(_ site: FieldValue) throws {
        #expect(try refusal(.post, "/-/reload", ("Sec-Fetch-Site", site)) == nil)
    }

    @Test func acceptsToolsWithoutOriginHeaders() throws {
        #expect(try refusal(.post, "/-/reload") == nil)
    }

    // MARK: Token

    private static let secret = "0123456789abcdef"
    private static let guardWithToken = AdminGuard(hosts: [], token: secret)

    private func refusalWithToken(
        _ target: String, _ credentials: FieldValue...
    ) throws -> AdminGuard.Refusal? {
        var fields: Fields = [.host: "localhost"]
        for value in credentials { fields.append("Authorization", value) }
        return Self.guardWithToken.refusal(
            of: RequestHead(
                method: .get, target: try #require(Target(target)), fields: fields))
    }

    @Test(
        arguments: [
            "Bearer 0123456789abcdef", "bearer 0123456789abcdef", "BEARER   0123456789abcdef",
        ] as [FieldValue])
    func acceptsTheToken(_ credentials: FieldValue) throws {
        for target in ["/metrics", "/-/reload", "/nowhere"] {
            #expect(try refusalWithToken(target, credentials) == nil)
        }
    }

    @Test(
        arguments: [
            "Bearer 0123456789abcdeF", "Bearer 0123456789abcde", "Bearer 0123456789abcdef0",
            "Bearer", "Bearer ", "Bearer0123456789abcdef", "0123456789abcdef",
            "Basic 0123456789abcdef", "Bearer 0123456789abcdef x", "Bearer\t0123456789abcdef",
        ] as [FieldValue])
    func refusesOtherCredentials(_ credentials: FieldValue) throws {
        #expect(try refusalWithToken("/metrics", credentials) == .unauthorized)
        // Without a token, credentials do not matter.
        #expect(try refusal(.get, "/metrics", ("Authorization", credentials)) == nil)
    }

    @Test func refusesMissingAndRepeatedCredentials() throws {
        let credentials: FieldValue = "Bearer 0123456789abcdef"
        #expect(try refusalWithToken("/metrics") == .unauthorized)
        #expect(try refusalWithToken("/metrics", credentials, credentials) == .unauthorized)
        #expect(try refusalWithToken("/metrics", credentials) == nil)
    }

    @Test(arguments: ["/livez", "/readyz", "/readyz?verbose"])
    func probesNeedNoToken(_ target: String) throws {
        #expect(try refusalWithToken(target) == nil)
    }

    /// The token does not help a foreign page.
    @Test func hostAndOriginAreCheckedBeforeTheToken() throws {
        let head = RequestHead(
            method: .get, target: try #require(Target("/metrics")),
            fields: [
                .host: "evil.example", "Authorization": "Bearer 0123456789abcdef",
            ])
        #expect(Self.guardWithToken.refusal(of: head) == .misdirected)
    }

    @Test func hasStatusForEachRefusal() {
        #expect(AdminGuard.Refusal.unauthorized.status.code == 401)
        #expect(AdminGuard.Refusal.misdirected.status.code == 421)
        #expect(AdminGuard.Refusal.crossSite.status.code == 403)
    }
}

@Suite struct ReloadLimitTests {
    @Test func admitsOneReloadPerSecond() {
        var limit = ReloadLimit()
        let start = Instant(nanoseconds: 5_000_000_000)
        #expect(limit.wait(at: start) == nil)
        #expect(limit.wait(at: start) == .seconds(1))
        #expect(limit.wait(at: start + .milliseconds(999)) == .milliseconds(1))
        #expect(limit.wait(at: start + .seconds(1)) == nil)
        // A refused reload does not count: the interval begins with the last admitted one.
        #expect(limit.wait(at: start + .milliseconds(1600)) == .milliseconds(400))
        #expect(limit.wait(at: start + .seconds(2)) == nil)
    }
}
