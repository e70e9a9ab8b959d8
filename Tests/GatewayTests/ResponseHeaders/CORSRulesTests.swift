import Basics
import HTTP
import Testing

@testable import Gateway

/// Which origins are allowed, and the header lines that follow from it.
@Suite struct CORSRulesTests {
    private func rules(_ block: String) throws -> CORSRules {
        let (loaded, problems) = load(["c.yaml": Snippet.endpoint("cors: \(block)")])
        let config = try #require(loaded, "\(problems.lines)")
        return CORSRules(try #require(config.cors(of: config.endpoints[0])))
    }

    private static let list =
        #"{ origins: ["https://shop.example.com", "https://*.example.org", "null", "http://[::1]:81"] }"#

    @Test(arguments: [
        ("https://shop.example.com", true), ("https://a.example.org", true),
        ("https://a-b_1.example.org", true), ("null", true), ("http://[::1]:81", true),
        // Lookalikes.
        ("https://shop.example.com.evil.test", false), ("https://evilshop.example.com", false),
        ("http://shop.example.com", false), ("https://shop.example.com:443", false),
        ("https://shop.example.com:8443", false), ("https://SHOP.example.com", false),
        ("HTTPS://shop.example.com", false), ("https://shop.example.com/", false),
        ("https://shop.example.com.", false), (" https://shop.example.com", false),
        ("https://shop.example.co", false), ("https://shop.example.comm", false),
        ("https://example.org", false), ("https://.example.org", false),
        ("https://a.b.example.org", false), ("https://a.example.org:444", false),
        ("http://a.example.org", false), ("https://evil.test/.example.org", false),
        ("https://evil.test#.example.org", false), ("https://a@.example.org", false),
        ("https://evil.test:1.example.org", false), ("https://A.example.org", false),
        ("https://a.example.org.evil.test", false), ("https://", false), ("*", false),
        ("Null", false), ("", false), ("file://", false), ("https://*.example.org", false),
    ])
    func allows(_ origin: String, _ isAllowed: Bool) throws {
        let rules = try rules(Self.list)
        #expect(rules.allows(Bytes(origin)) == isAllowed)
        #expect(try self.rules(#"{ origins: ["*"] }"#).allows(Bytes(origin)))
    }

    private func lines(_ block: String, _ origin: String?) throws -> [String] {
        var request = Fields()
        if let origin { request.append(.origin, try #require(FieldValue(origin))) }
        let head = RequestHead(method: .get, target: .root, fields: request)
        let headers = ResponseHeaders(fixed: ["X-Fixed": "1"], cors: try rules(block))
        return headers.fields(for: head).map { "\(String($0.name)): \(String($0.value))" }
    }

    private static let exposed =
        "Access-Control-Expose-Headers: X-Request-Id, Gateway-Complete, Gateway-Failures,"
        + " Retry-After, RateLimit"

    @Test func listedOriginIsEchoed() throws {
        #expect(
            try lines(Self.list, "https://shop.example.com") == [
                "X-Fixed: 1", "Vary: Origin",
                "Access-Control-Allow-Origin: https://shop.example.com", Self.exposed,
            ])
        #expect(
            try lines(Self.list, "https://b.example.org") == [
                "X-Fixed: 1", "Vary: Origin",
                "Access-Control-Allow-Origin: https://b.example.org", Self.exposed,
            ])
    }

    /// The response varies also without an origin, because a cache could give it to a page.
    @Test(arguments: [nil, "https://evil.test"])
    func otherOriginGetsOnlyVary(_ origin: String?) throws {
        #expect(try lines(Self.list, origin) == ["X-Fixed: 1", "Vary: Origin"])
    }

    @Test(arguments: [nil, "https://evil.test", "null"])
    func anyOriginGetsTheSameLines(_ origin: String?) throws {
        #expect(
            try lines(#"{ origins: ["*"], expose: [ETag] }"#, origin) == [
                "X-Fixed: 1", "Access-Control-Allow-Origin: *", Self.exposed + ", ETag",
            ])
    }

    @Test func credentialsAreStatedForAllowedOriginsOnly() throws {
        let block = #"{ origins: ["https://a.example"], credentials: true }"#
        #expect(
            try lines(block, "https://a.example").contains("Access-Control-Allow-Credentials: true")
        )
        #expect(try lines(block, "https://b.example") == ["X-Fixed: 1", "Vary: Origin"])
    }

    // MARK: The configuration

    @Test(arguments: [
        "*", "null", "https://a.example", "http://localhost:3000", "https://*.a.example:8443",
        "http://127.0.0.1", "http://[::1]:8080",
        "capacitor://localhost", "chrome-extension://abcdefgh", "https://xn--a-0fa.example",
    ])
    func acceptsOrigin(_ text: String) throws {
        #expect(try Config.CORS.Origin(parsing: text).text == text)
    }

    @Test(arguments: [
        ("https://A.example", "did you mean https://a.example?"),
        ("https://a.example:443", "did you mean https://a.example?"),
        ("http://a.example:80", "did you mean http://a.example?"),
        ("https://a.example/", "without a path"), ("https://u@a.example", "without a path"),
        ("https://a.example?x", "without a path"), ("a.example", "must be an origin such as"),
        ("https:a.example", "must be an origin such as"), ("://a", "must be an origin such as"),
        ("https://*.*.example", "one '*' only"), ("https://a*.example", "one '*' only"),
        ("https://a.*.example", "one '*' only"), ("https://\u{e4}.example", "xn--"),
        ("https://", "valid host"), ("https://a.example:0", "valid port"),
        ("https://a.example:x", "valid port"), ("https://::1", "IPv6"),
        ("1https://a.example", "valid scheme"), ("https://*.", "valid host"),
        ("", "origin such as"),
    ])
    func refusesOrigin(_ text: String, _ message: String) {
        do throws(Refusal) {
            _ = try Config.CORS.Origin(parsing: text)
            Issue.record("accepted")
        } catch {
            #expect(error.message.contains(message), "\(error.message)")
        }
    }

    @Test func blockOfAnEndpointReplacesThatOfDefaults() throws {
        func cors(_ lines: String) throws -> String? {
            let text =
                Snippet.endpoint(lines) + "\ndefaults: { cors: { origins: [\"https://a\"] } }"
            let (config, problems) = load(["c.yaml": text])
            let plan = try Planner.plan(try #require(config, "\(problems.lines)"), processors: 1)
            #expect(plan.entry.headers != nil)
            return plan.endpoints[0].cors?.text
        }
        #expect(try cors("") == "https://a")
        #expect(try cors("cors: none") == nil)
        #expect(
            try cors("cors: { origins: [\"https://b\"], credentials: true }")
                == "https://b, with credentials")
    }

    /// An endpoint without any of these keys has no headers of its own, so that a request for it
    /// does nothing for them.
    @Test func endpointWithoutKeysHasNoHeadersOfItsOwn() throws {
        func plan(_ lines: String) throws -> Plan {
            let (config, problems) = load(["c.yaml": Snippet.endpoint(lines)])
            return try Planner.plan(try #require(config, "\(problems.lines)"), processors: 1)
        }
        #expect(try plan("").endpoints[0].headers == nil)
        #expect(try plan("").entry.headers == nil)
        #expect(try plan("response_headers: { A: b }").endpoints[0].headers != nil)
    }
}
