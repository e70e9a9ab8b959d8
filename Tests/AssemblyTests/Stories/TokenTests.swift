import HTTP
import TestSupport
import Testing
import WorkerSupport

/// `auth` with `jwt`: which tokens are accepted, what calls receive of them, and where the keys come
/// from.
@Suite(.watched) struct TokenTests {
    static let call = """
        one: { from: a, get: /1, headers: { X-User: "{token.sub}", X-Caller: "{request.caller}" } }
        """

    private static func top(_ keys: String, _ more: String = "") -> String {
        """
        auth:
          customers:
            jwt:
              issuer: https://id.test/
              audience: shop
              algorithms: [EdDSA]
              keys: { \(keys) }
              \(more)
          tools: { basic: { keys: tools.yaml } }
        """
    }

    private static let fetched = "from: c, get: /jwks"

    private func harness(
        _ keys: String = "file: keys.json", auth: String = "customers", _ endpoint: String = "",
        jwt: String = "", call: String = call
    ) throws -> GatewayHarness {
        try GatewayHarness(
            call, endpoint: "auth: \(auth)\n\(endpoint)", top: Self.top(keys, jwt),
            files: [
                "keys.json": TestIssuer.keys("k1"), "tools.yaml": Keys.entry("ci", "x", user: true),
            ])
    }

    private func reason(_ response: ReceivedResponse) -> String? {
        response.body.firstMatch(of: /"reason":"(\w+)"/).map { String($0.1) }
    }

    /// The calls, without fetches of keys.
    private func calls(_ harness: GatewayHarness) -> [ReceivedRequest] {
        harness.seen.filter { $0.target != "/jwks" }
    }

    // MARK: Tokens

    @Test func acceptsATokenAndPassesItsClaims() throws {
        let harness = try harness()
        let response = try harness.fetch(get("/x", TestIssuer.bearer()))
        #expect(response.status == 200)
        #expect(response["Cache-Control"] == "no-store")
        #expect(harness.seen.first?["X-User"] == "ann")
        #expect(harness.seen.first?["X-Caller"] == "ann")
        #expect(harness.seen.first?["Authorization"] == nil)
        harness.expectQuiet()
    }

    static let refusals: [([String], Int, String)] = [
        ([], 401, "missing"), (["Basic eDp5"], 401, "missing"), (["Bearer"], 401, "malformed"),
        (["Bearer a.b.c"], 401, "malformed"),
        (["Bearer " + TestIssuer.token() + "="], 401, "malformed"),
        (["Bearer " + String(repeating: "a", count: 8193)], 401, "malformed"),
        (["Bearer " + TestIssuer.token(by: "k2")], 401, "untrusted"),
        (["Bearer " + TestIssuer.token(["iss": "\"https://id.test\""])], 401, "untrusted"),
        (["Bearer " + TestIssuer.token(["aud": "\"other\""])], 401, "untrusted"),
        (["Bearer " + TestIssuer.token(["exp": ""])], 401, "untrusted"),
        (["Bearer " + TestIssuer.token(["exp": "1"])], 401, "expired"),
        (["Bearer " + TestIssuer.token(["nbf": "4000000000"])], 401, "not_yet_valid"),
        (["Bearer " + TestIssuer.token(), "Basic eDp5"], 400, "malformed"),
    ]

    @Test(arguments: refusals)
    func refusesARequest(_ values: [String], _ status: Int, _ expected: String) throws {
        let harness = try harness()
        let response = try harness.fetch(
            request("GET", "/x", values.map { "Authorization: \($0)" }))
        #expect(response.status == status)
        #expect(reason(response) == expected)
        // RFC 6750, section 3.1: several credentials are an invalid request.
        let error =
            status == 400
            ? ", error=\"invalid_request\""
            : expected == "missing" ? "" : ", error=\"invalid_token\""
        #expect(response["WWW-Authenticate"] == "Bearer realm=\"customers\"" + error)
        #expect(harness.seen.isEmpty)
        harness.expectQuiet()
    }

    /// The client learns the reason, the log also the cause; neither has a part of the token.
    @Test(arguments: [
        (TestIssuer.token() + "AAAA", "untrusted", "signature"),
        (TestIssuer.token(by: "k2"), "untrusted", "unknown_key"),
        (TestIssuer.token(["iss": "\"https://evil.test\""]), "untrusted", "issuer"),
        (TestIssuer.token(["aud": "\"evil\""]), "untrusted", "audience"),
        (TestIssuer.token(["exp": ""]), "untrusted", "no_expiry"),
        (TestIssuer.token(["aud": "7"]), "malformed", "claim_type"),
        ("evil.b.c", "malformed", "not_an_object"), ("evil", "malformed", "not_three_parts"),
        ("a.b.c.d.evil", "malformed", "encrypted"), ("", "malformed", "empty"),
        (String(repeating: "evil", count: 2049), "malformed", "too_long"),
        (TestIssuer.token(["exp": "1"]), "expired", nil),
    ])
    func logHasTheCauseOfARefusal(_ token: String, _ expected: String, _ cause: String?) throws {
        let harness = try harness()
        let response = try harness.fetch(get("/x", "Authorization: Bearer \(token)"))
        #expect(response.status == 401 && reason(response) == expected)
        let line = try #require(harness.logged.first { $0.contains(#""msg":"request""#) })
        #expect(line.contains("\"reason\":\"\(expected)\""))
        let logged = line.firstMatch(of: /"cause":"(\w+)"/).map { String($0.1) }
        #expect(logged == cause, "\(line)")
        #expect(!line.contains("evil") && !response.body.contains(cause ?? "-"))
        if !token.isEmpty { #expect(!harness.logged.joined().contains(token)) }
        harness.expectQuiet()
    }

    @Test func acceptedRequestHasNoCause() throws {
        let harness = try harness()
        #expect(try harness.fetch(get("/x", TestIssuer.bearer())).status == 200)
        #expect(!harness.logged.joined().contains("\"cause\""))
        harness.expectQuiet()
    }

    @Test func tokenExpiresAfterTheLeewayAlsoWhereItIsRemembered() throws {
        let harness = try harness(jwt: "leeway: 5s")
        let line = TestIssuer.bearer(["exp": "\(TestIssuer.start + 10)"])
        #expect(try harness.fetch(get("/x", line)).status == 200)
        harness.pass(14_999)
        #expect(try harness.fetch(get("/x", line)).status == 200)
        harness.pass(1)
        let response = try harness.fetch(get("/x", line))
        #expect(response.status == 401 && reason(response) == "expired")
        harness.expectQuiet()
    }

    @Test(arguments: ["remember: 0", "remember: 1", "remember: 1000"])
    func sameTokenIsAcceptedAgain(_ setting: String) throws {
        let harness = try harness(jwt: setting)
        for _ in 0..<3 {
            for name in ["ann", "ben"] {
                let line = TestIssuer.bearer(["sub": "\"\(name)\""])
                #expect(try harness.fetch(get("/x", line)).status == 200)
                #expect(harness.seen.last?["X-User"] == name)
            }
        }
        harness.expectQuiet()
    }

    @Test func acceptsASecret() throws {
        let harness = try GatewayHarness(
            Self.call, endpoint: "auth: customers",
            top: """
                auth:
                  customers:
                    jwt:
                      issuer: a
                      audience: any
                      algorithms: [HS256]
                      keys: { secret: "${file:secret.txt}" }
                """, files: ["secret.txt": "0123456789abcdef0123456789abcdef\n"])
        // Made with PyJWT: {"iss":"a","exp":4102444800,"sub":"zoe"}.
        let token =
            "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9."
            + "eyJpc3MiOiJhIiwiZXhwIjo0MTAyNDQ0ODAwLCJzdWIiOiJ6b2UifQ."
            + "0_OHC5NYLbF4CcMknH1FFltzWkxlOGGJ48L30T5DElE"
        #expect(try harness.fetch(get("/x", "Authorization: Bearer \(token)")).status == 200)
        #expect(harness.seen.first?["X-User"] == "zoe")
        let other = token.dropLast(4) + "AAAA"
        #expect(try harness.fetch(get("/x", "Authorization: Bearer \(other)")).status == 401)
        harness.expectQuiet()
    }

    // MARK: Places

    @Test func readsTheTokenFromAHeader() throws {
        let harness = try harness(jwt: "token: { header: X-Token }")
        #expect(try harness.fetch(get("/x", "X-Token: " + TestIssuer.token())).status == 200)
        #expect(try harness.fetch(get("/x", TestIssuer.bearer())).status == 401)
        let twice = "X-Token: " + TestIssuer.token()
        #expect(try harness.fetch(get("/x", twice, twice)).status == 400)
        harness.expectQuiet()
    }

    @Test(arguments: [
        ("session=@", 200), ("a=b; session=@; c=d", 200), ("session=\"@\"", 200),
        ("Session=@", 401), ("xsession=@", 401), ("session=@; session=@", 400), ("session", 401),
        ("", 401),
    ])
    func readsTheTokenFromACookie(_ cookie: String, _ status: Int) throws {
        let harness = try harness(jwt: "token: { cookie: session }")
        let line = "Cookie: " + cookie.replacing("@", with: TestIssuer.token())
        #expect(try harness.fetch(get("/x", line)).status == status)
        harness.expectQuiet()
    }

    // MARK: Scopes and claims

    @Test(arguments: [
        ("scope", "\"orders:read a\"", 200), ("scope", "[\"orders:read\"]", 200),
        ("scp", "\"orders:read\"", 200), ("scp", "[\"a\",\"orders:read\"]", 200),
        ("scope", "\"orders\"", 403), ("scope", "\"\"", 403), ("scope", "1", 403),
        ("permissions", "\"orders:read\"", 403),
    ])
    func callerMustHaveTheScope(_ claim: String, _ value: String, _ status: Int) throws {
        let harness = try harness(auth: "{ any: customers, scopes: orders:read }")
        let response = try harness.fetch(get("/x", TestIssuer.bearer([claim: value])))
        #expect(response.status == status)
        if status == 403 {
            #expect(reason(response) == "scope")
            #expect(
                response["WWW-Authenticate"]
                    == "Bearer realm=\"customers\", error=\"insufficient_scope\", scope=\"orders:read\""
            )
        }
        harness.expectQuiet()
    }

    @Test func scopeTakesPrecedenceOverScp() throws {
        let harness = try harness(auth: "{ any: customers, scopes: b }")
        let line = TestIssuer.bearer(["scope": "\"a\"", "scp": "\"b\""])
        #expect(try harness.fetch(get("/x", line)).status == 403)
        harness.expectQuiet()
    }

    @Test func readsScopesFromTheConfiguredClaim() throws {
        let harness = try harness(
            auth: "{ any: customers, scopes: b }", jwt: "scopes_claim: permissions")
        let line = TestIssuer.bearer(["scope": "\"a\"", "permissions": "[\"b\"]"])
        #expect(try harness.fetch(get("/x", line)).status == 200)
        harness.expectQuiet()
    }

    /// A name with dots is one claim if the token has it, else a path; a list is a path.
    @Test(arguments: [
        ("realm_access.roles", ["realm_access": #"{"roles":["b"]}"#], 200),
        ("\"https://x.test/roles\"", ["https://x.test/roles": #"["b"]"#], 200),
        ("a.b", ["a.b": #""b""#, "a": #"{"b":"c"}"#], 200),
        ("a.b", ["a.b": #""c""#, "a": #"{"b":"b"}"#], 403),
        (
            "[resource_access, my.app, roles]", ["resource_access": #"{"my.app":{"roles":["b"]}}"#],
            200
        ),
        ("[a.b]", ["a": #"{"b":"b"}"#], 403),
        ("[a.b]", ["a.b": #""b""#], 200),
        ("a.b", ["a": #"["b"]"#], 403), ("a.", ["a": #""b""#], 403),
    ])
    func readsScopesFromANestedClaim(
        _ claim: String, _ claims: [String: String], status: Int
    ) throws {
        let harness = try harness(
            auth: "{ any: customers, scopes: b }", jwt: "scopes_claim: \(claim)")
        #expect(try harness.fetch(get("/x", TestIssuer.bearer(claims))).status == status)
        harness.expectQuiet()
    }

    @Test func callsUseClaimsAtAnyDepth() throws {
        let harness = try harness(
            call: """
                one: { from: a, get: "/1/{token.realm.roles[1]}?n={token.n}&o={token.none?}" }
                two: { from: b, post: /2, body: { all: "{token.realm.roles}", n: "{token.n}" } }
                """
        )
        let line = TestIssuer.bearer([
            "realm": "{\"roles\":[\"a\",\"b/c\"]}", "n": "17",
        ])
        #expect(try harness.fetch(get("/x", line)).status == 200)
        #expect(harness.seen.first { $0.method == "GET" }?.target == "/1/b%2Fc?n=17&o=")
        #expect(
            harness.seen.first { $0.method == "POST" }?.body == #"{"all":["a","b/c"],"n":17}"#)
        harness.expectQuiet()
    }

    /// A missing claim, null, and one that would split the head.
    @Test(arguments: ["", "null", "\"a\\r\\nX-Admin: 1\"", "{\"a\":1}"])
    func missingClaimSkipsTheCall(_ subject: String) throws {
        let harness = try harness(call: Self.call + "\ntwo: { from: b, get: /2 }")
        let response = try harness.fetch(get("/x", TestIssuer.bearer(["sub": subject])))
        #expect(response.status == 200)
        #expect(response.body.contains(#""because":"token.sub""#))
        #expect(harness.seen.map(\.target) == ["/2"])
        harness.expectQuiet()
    }

    @Test func missingClaimOfARequiredCallIs403() throws {
        let harness = try harness(
            call: "one: { from: a, get: \"/{token.tenant}\", required: true }")
        let response = try harness.fetch(get("/x", TestIssuer.bearer()))
        #expect(response.status == 403)
        #expect(response.body.contains(#""reason":"claims""#))
        #expect(harness.seen.isEmpty)
        let other = try harness.fetch(get("/x", TestIssuer.bearer(["tenant": "\"t\""])))
        #expect(other.status == 200)
        harness.expectQuiet()
    }

    @Test func missingClaimOfTheOnlyCallIs403() throws {
        let harness = try harness(call: "one: { from: a, get: \"/{token.tenant}\" }")
        let response = try harness.fetch(get("/x", TestIssuer.bearer()))
        #expect(response.status == 403 && response.body.contains(#""reason":"claims""#))
        harness.expectQuiet()
    }

    @Test func aPasswordIsAcceptedBesideATokenAndHasNoClaims() throws {
        let harness = try harness(
            auth: "[customers, tools]",
            call: "one: { from: a, get: /1 }\ntwo: { from: b, get: \"/{token.sub}\" }")
        let basic = "Authorization: \(Keys.basic("ci", "x"))"
        let response = try harness.fetch(get("/x", basic))
        #expect(response.status == 200)
        #expect(harness.seen.map(\.target) == ["/1"])
        #expect(try harness.fetch(get("/x", TestIssuer.bearer())).status == 200)
        harness.expectQuiet()
    }

    // MARK: Keys of an issuer

    private func fetches(_ harness: GatewayHarness) -> [String] {
        harness.events.filter { $0.hasSuffix(" GET /jwks") }.map {
            String($0.split(separator: " ")[0])
        }
    }

    @Test func fetchesTheKeysAtTheStart() throws {
        let harness = try harness(Self.fetched)
        harness.on("/jwks", .ok(TestIssuer.keys("k1"), after: 20))
        harness.pass(30)
        #expect(fetches(harness) == ["0"])
        #expect(harness.seen.first?["User-Agent"] == "tributary/\(Product.version)")
        #expect(try harness.fetch(get("/x", TestIssuer.bearer())).outcome == "200 at 0")
        harness.expectQuiet()
    }

    @Test func requestWaitsForTheFirstFetch() throws {
        let harness = try harness(Self.fetched)
        harness.on("/jwks", .ok(TestIssuer.keys("k1"), after: 900))
        #expect(try harness.fetch(get("/x", TestIssuer.bearer())).outcome == "200 at 900")
        #expect(fetches(harness) == ["0"])
        let times = #""ms":900.000,"own_ms":0.000,"keys_ms":900.000,"#
        #expect(harness.logged.contains { $0.contains(times) })
        harness.expectQuiet()
    }

    @Test func withoutKeysTheResponseIs503AfterASecond() throws {
        let harness = try harness(Self.fetched)
        harness.on("/jwks", .hangs)
        let response = try harness.fetch(get("/x", TestIssuer.bearer()))
        #expect(response.outcome == "503 at 1000")
        #expect(reason(response) == "keys_unavailable")
        #expect(response["Retry-After"] == "1")
        #expect(response["WWW-Authenticate"] == nil)
        // What needs no keys is decided at once.
        #expect(try harness.fetch().outcome == "401 at 0")
        #expect(try harness.fetch(get("/x", "Authorization: Bearer x")).outcome == "401 at 0")
        #expect(calls(harness).isEmpty)
        harness.expectQuiet()
    }

    @Test(arguments: [
        Reply.status(500), .status(404), .ok("{"), .ok("[]"), .closes(), .breaksOff(),
        .ok(String(repeating: " ", count: 262_145)),
    ])
    func failedFetchIsRepeatedAfterTheInterval(_ failure: Reply) throws {
        let harness = try harness(Self.fetched + ", refresh: 60s")
        harness.on("/jwks", .ok(TestIssuer.keys("k1")), failure, failure)
        // The pool sends a request again whose connection ended, so those are counted from here.
        harness.pass(60_001)
        let begun = fetches(harness).count
        #expect(begun > 1)
        #expect(try harness.fetch(get("/x", TestIssuer.bearer())).status == 200)
        harness.pass(29_990)
        #expect(fetches(harness).count == begun)
        harness.pass(10)
        #expect(fetches(harness).count > begun)
        harness.expectQuiet()
    }

    /// Without any keys every token is refused: the first fetches are repeated after 1, 2, 4 ...
    /// seconds, and at most `unknown_kid` apart.
    @Test func firstFetchIsRepeatedSoonerThanTheInterval() throws {
        let harness = try harness(Self.fetched + ", unknown_kid: 5s")
        // Without a set, 304 is a failure, too.
        harness.on(
            "/jwks", .status(500), .status(304), .status(500), .status(500), .status(500),
            .ok(TestIssuer.keys("k1")))
        let response = try harness.fetch(get("/x", TestIssuer.bearer()))
        #expect(response.status == 503 && response["Retry-After"] == "2")
        harness.pass(11_000)
        #expect(fetches(harness) == ["0", "1000", "3000", "7000"])
        #expect(try harness.fetch(get("/x", TestIssuer.bearer())).status == 503)
        harness.pass(6_000)
        #expect(fetches(harness) == ["0", "1000", "3000", "7000", "12000", "17000"])
        #expect(try harness.fetch(get("/x", TestIssuer.bearer())).status == 200)
        // With keys, the interval counts again.
        #expect(try harness.fetch(get("/x", TestIssuer.bearer(by: "k2"))).status == 401)
        #expect(fetches(harness).count == 6)
        harness.expectQuiet()
    }

    /// An issuer that does not respond is named as such.
    @Test func logNamesAnIssuerThatHangs() throws {
        let harness = try harness(Self.fetched)
        harness.on("/jwks", .hangs)
        harness.pass(5_001)
        let lines = harness.logged.filter { $0.contains("keys of an issuer not fetched") }
        #expect(lines.count == 1)
        #expect(lines.first?.contains(#""problem":"no response within 5s""#) == true)
        harness.expectQuiet()
    }

    static let uselessSets: [(String, String)] = [
        (#"{"keys":[]}"#, "the set is empty"),
        (#"{"keys":[{"kty":"oct","k":"c2VjcmV0"}]}"#, "key 1 is symmetric"),
        (
            TestIssuer.keys("k1").replacing(#""use":"sig""#, with: #""use":"enc""#),
            "key 1 has a use other than sig"
        ),
        (TestIssuer.keys("k1", "k1"), "several keys have the kid 'k1'"),
    ]

    /// Every token would be refused without a visible reason.
    @Test(arguments: uselessSets)
    func logNamesTheReasonsOfASetThatVerifiesNothing(_ set: String, _ reason: String) throws {
        let harness = try harness(Self.fetched)
        harness.on("/jwks", .ok(set))
        #expect(try harness.fetch(get("/x", TestIssuer.bearer())).status == 401)
        let lines = harness.logged.filter { $0.contains("keys of an issuer verify no token") }
        #expect(lines.count == 1)
        #expect(lines.first?.contains(#""auth":"customers""#) == true)
        #expect(lines.first?.contains(reason) == true, "\(lines)")
        harness.expectQuiet()
    }

    /// The positive control: one usable key is enough.
    @Test func logHasNothingAboutASetWithAUsableKey() throws {
        let harness = try harness(Self.fetched)
        harness.on(
            "/jwks",
            .ok(TestIssuer.keys("k1").replacing("]}", with: #",{"kty":"oct","k":"c2VjcmV0"}]}"#)))
        #expect(try harness.fetch(get("/x", TestIssuer.bearer())).status == 200)
        #expect(!harness.logged.contains { $0.contains("verify no token") })
        harness.expectQuiet()
    }

    @Test func refreshesInTheBackground() throws {
        let harness = try harness(Self.fetched + ", refresh: 60s")
        harness.on(
            "/jwks", .ok(TestIssuer.keys("k1"), after: 0, "ETag: \"v1\""), .status(304, ""),
            .ok(TestIssuer.keys("k2")), .status(500), .ok(TestIssuer.keys("k2")))
        harness.pass(60_000)
        #expect(fetches(harness) == ["0", "60000"])
        #expect(harness.seen.last?["If-None-Match"] == "\"v1\"")
        let line = TestIssuer.bearer()
        #expect(try harness.fetch(get("/x", line)).status == 200)
        harness.pass(60_000)
        // The set has changed, so a remembered token is verified again.
        #expect(try harness.fetch(get("/x", line)).status == 401)
        #expect(try harness.fetch(get("/x", TestIssuer.bearer(by: "k2"))).status == 200)
        harness.pass(60_000)
        #expect(fetches(harness) == ["0", "60000", "120000", "180000"])
        // A failed refresh keeps the keys and is repeated after the interval.
        #expect(try harness.fetch(get("/x", TestIssuer.bearer(by: "k2"))).status == 200)
        harness.pass(30_000)
        #expect(fetches(harness).last == "210000")
        harness.expectQuiet()
    }

    @Test(arguments: [
        ("max-age=120", 120), ("public, Max-Age=\"300\"", 300), ("max-age=1", 60),
        ("max-age=9999999", 86_400), ("no-cache", 600), ("max-age=x", 600),
    ])
    func maxAgeOverridesTheRefresh(_ control: String, _ seconds: Int) throws {
        let harness = try harness(Self.fetched)
        harness.on("/jwks", .ok(TestIssuer.keys("k1"), after: 0, "Cache-Control: \(control)"))
        harness.pass(Double(seconds) * 1000 - 1)
        #expect(fetches(harness) == ["0"])
        harness.pass(1)
        #expect(fetches(harness).count == 2)
        harness.expectQuiet()
    }

    @Test func ageCountsAsPartOfMaxAge() throws {
        let harness = try harness(Self.fetched)
        harness.on(
            "/jwks",
            .ok(TestIssuer.keys("k1"), after: 0, "Cache-Control: max-age=200", "Age: 80"))
        harness.pass(120_000)
        #expect(fetches(harness) == ["0", "120000"])
        harness.expectQuiet()
    }

    @Test func keysAreUsedUntilTheyAreStale() throws {
        let harness = try harness(Self.fetched + ", refresh: 60s, stale: 100s")
        harness.on("/jwks", .ok(TestIssuer.keys("k1")), .status(500))
        let line = TestIssuer.bearer()
        harness.pass(159_999)
        #expect(try harness.fetch(get("/x", line)).status == 200)
        harness.pass(1)
        // Also a remembered token needs keys.
        let response = try harness.fetch(get("/x", line))
        #expect(response.status == 503 && reason(response) == "keys_unavailable")
        harness.expectQuiet()
    }

    @Test func withdrawingAllKeysTakesEffect() throws {
        let harness = try harness(Self.fetched + ", refresh: 60s")
        harness.on("/jwks", .ok(TestIssuer.keys("k1")), .ok("{\"keys\":[]}"))
        let line = TestIssuer.bearer()
        #expect(try harness.fetch(get("/x", line)).status == 200)
        harness.pass(60_000)
        #expect(try harness.fetch(get("/x", line)).status == 401)
        harness.expectQuiet()
    }

    // MARK: Unknown keys

    @Test func unknownKeyIsFetchedOnceInTheInterval() throws {
        let harness = try harness(Self.fetched)
        harness.on("/jwks", .ok(TestIssuer.keys("k1")), .ok(TestIssuer.keys("k1", "k2"), after: 50))
        let line = TestIssuer.bearer(by: "k2")
        // The first fetch starts an interval.
        #expect(try harness.fetch(get("/x", line)).outcome == "401 at 0")
        harness.pass(30_000)
        let unknown = TestIssuer.bearer(by: "k3")
        let clients = try [line, line, unknown].map { try harness.send(get("/x", $0)) }
        harness.pass(50)
        #expect(
            clients.map { $0.responses.first?.outcome } == [
                "200 at 50", "200 at 50", "401 at 50",
            ])
        #expect(try harness.fetch(get("/x", unknown)).outcome == "401 at 0")
        #expect(fetches(harness) == ["0", "30000"])
        harness.expectQuiet()
    }

    /// A key without `kid` may verify any token, so one that it does not verify is of an unknown key.
    @Test func unknownKeyIsFetchedBesideAKeyWithoutID() throws {
        let harness = try harness(Self.fetched)
        let plain = TestIssuer.keys("k3").replacing(#""kid":"k3","#, with: "")
        let both = TestIssuer.keys("k1").replacing(
            "]}", with: plain.replacing(#"{"keys":["#, with: ","))
        harness.on("/jwks", .ok(both), .ok(TestIssuer.keys("k1", "k2")))
        harness.pass(30_000)
        // The positive control: the key without an id verifies a token with any.
        #expect(try harness.fetch(get("/x", TestIssuer.bearer(by: "k3"))).status == 200)
        #expect(fetches(harness) == ["0"])
        #expect(try harness.fetch(get("/x", TestIssuer.bearer(by: "k2"))).status == 200)
        #expect(fetches(harness) == ["0", "30000"])
        harness.expectQuiet()
    }

    @Test func unknownKeyWaitsAtMostASecond() throws {
        let harness = try harness(Self.fetched)
        harness.on("/jwks", .ok(TestIssuer.keys("k1")), .hangs)
        harness.pass(30_000)
        let line = TestIssuer.bearer(by: "k2")
        #expect(try harness.fetch(get("/x", line)).outcome == "401 at 1000")
        // Tokens of known keys do not wait.
        #expect(try harness.fetch(get("/x", TestIssuer.bearer())).outcome == "200 at 0")
        harness.expectQuiet()
    }

    // MARK: Several issuers

    /// `first` fetches its keys from an issuer that hangs; `second` has its keys.
    private func harnessWithTwoIssuers(firstIssuer: String) throws -> GatewayHarness {
        let harness = try GatewayHarness(
            Self.call, endpoint: "auth: [first, second]",
            top: """
                auth:
                  first:
                    jwt:
                      issuer: \(firstIssuer)
                      audience: shop
                      algorithms: [EdDSA]
                      keys: { from: c, get: /jwks }
                  second:
                    jwt:
                      issuer: https://id.test/
                      audience: shop
                      algorithms: [EdDSA]
                      keys: { file: keys.json }
                """, files: ["keys.json": TestIssuer.keys("k1")])
        harness.on("/jwks", .hangs)
        return harness
    }

    @Test func tokenOfAnotherIssuerDoesNotWaitForTheFirst() throws {
        let harness = try harnessWithTwoIssuers(firstIssuer: "https://first.test/")
        #expect(try harness.fetch(get("/x", TestIssuer.bearer())).outcome == "200 at 0")
        // The positive control: a token of the first issuer waits for its keys.
        let first = TestIssuer.bearer(["iss": #""https://first.test/""#])
        #expect(try harness.fetch(get("/x", first)).outcome == "503 at 1000")
        harness.expectQuiet()
    }

    @Test(arguments: [
        ["iss": #""https://other.test/""#], ["aud": #""other""#], ["exp": "1"],
        ["nbf": "4000000000"],
    ])
    func tokenThatNoKeyCanMakeValidCausesNoFetch(_ claims: [String: String]) throws {
        let harness = try harness(Self.fetched)
        harness.on("/jwks", .ok(TestIssuer.keys("k1")), .hangs)
        harness.pass(30_000)
        let response = try harness.fetch(get("/x", TestIssuer.bearer(claims, by: "k2")))
        #expect(response.outcome == "401 at 0")
        #expect(fetches(harness) == ["0"])
        // The positive control.
        _ = try harness.send(get("/x", TestIssuer.bearer(by: "k2")))
        harness.pass(1)
        #expect(fetches(harness) == ["0", "30000"])
        harness.expectQuiet()
    }

    /// Both accept the same issuer; only the second has the key.
    @Test func rememberedTokenDoesNotWaitForAnotherAuthenticator() throws {
        let harness = try harnessWithTwoIssuers(firstIssuer: "https://id.test/")
        #expect(try harness.fetch(get("/x", TestIssuer.bearer())).outcome == "200 at 1000")
        #expect(try harness.fetch(get("/x", TestIssuer.bearer())).outcome == "200 at 0")
        harness.expectQuiet()
    }

    /// The fetch serves others.
    @Test func clientThatLeavesDoesNotCancelTheFetch() throws {
        let harness = try harness(Self.fetched)
        harness.on("/jwks", .ok(TestIssuer.keys("k1"), after: 500))
        let client = try harness.send(get("/x", TestIssuer.bearer()))
        harness.pass(100)
        client.leave()
        harness.pass(50)
        #expect(!harness.events.contains { $0.contains("cancelled") })
        #expect(try harness.fetch(get("/x", TestIssuer.bearer())).outcome == "200 at 350")
        harness.expectQuiet()
    }

    // MARK: Reload

    @Test func reloadKeepsTheKeys() throws {
        let harness = try harness(Self.fetched)
        harness.on("/jwks", .ok(TestIssuer.keys("k1")))
        let line = TestIssuer.bearer()
        #expect(try harness.fetch(get("/x", line)).status == 200)
        try harness.install(
            GatewayHarness.text(
                Self.call, "auth: customers\ndeadline: 1s", "", Self.top(Self.fetched)),
            files: ["tools.yaml": Keys.entry("ci", "x", user: true)])
        #expect(try harness.fetch(get("/x", line)).status == 200)
        #expect(fetches(harness) == ["0"])
        harness.pass(600_000)
        #expect(fetches(harness) == ["0", "600000"])
        harness.expectQuiet()
    }

    @Test func reloadFetchesTheKeysOfAnotherIssuer() throws {
        let harness = try harness(Self.fetched)
        harness.on("/jwks", .ok(TestIssuer.keys("k1")))
        harness.on("/other", .ok(TestIssuer.keys("k2")))
        #expect(try harness.fetch(get("/x", TestIssuer.bearer())).status == 200)
        try harness.install(
            GatewayHarness.text(Self.call, "auth: customers", "", Self.top("from: c, get: /other")),
            files: ["tools.yaml": Keys.entry("ci", "x", user: true)])
        #expect(try harness.fetch(get("/x", TestIssuer.bearer(by: "k2"))).status == 200)
        #expect(try harness.fetch(get("/x", TestIssuer.bearer())).status == 401)
        harness.pass(1_200_000)
        // The former keys are fetched no more.
        #expect(fetches(harness) == ["0"])
        harness.expectQuiet()
    }

    /// The name of the backend and its index are the same; its servers or their requests are not.
    @Test(arguments: [
        ("", #"url: "http://127.0.0.1:7002""#), ("", #"url: "http://127.0.0.1:7001/v2""#),
        ("headers: { X-Tenant: one }", "headers: { X-Tenant: two }"),
    ])
    func reloadDropsTheKeysOfAnotherBackend(_ before: String, _ after: String) throws {
        func text(_ backend: String) -> String {
            GatewayHarness.text(Self.call, "auth: customers", "", Self.top("from: a, get: /jwks"))
                .replacing(
                    #"a: { url: "http://127.0.0.1:7001",  }"#,
                    with: backend.contains("url:")
                        ? "a: { \(backend) }" : #"a: { url: "http://127.0.0.1:7001", \#(backend) }"#
                )
        }
        let files = ["tools.yaml": Keys.entry("ci", "x", user: true)]
        let harness = try GatewayHarness(config: text(before), files: files)
        harness.on("/jwks", .ok(TestIssuer.keys("k1")), .ok(TestIssuer.keys("k2")))
        harness.on("/v2/jwks", .ok(TestIssuer.keys("k2")))
        let (former, new) = (TestIssuer.bearer(by: "k1"), TestIssuer.bearer(by: "k2"))
        #expect(try harness.fetch(get("/x", former)).status == 200)
        try harness.install(text(after), files: files)
        #expect(try harness.fetch(get("/x", former)).status == 401)
        #expect(try harness.fetch(get("/x", new)).status == 200)
        harness.expectQuiet()
    }

    /// The positive control: the same backend at another index.
    @Test func reloadKeepsTheKeysWhereOnlyTheIndexChanges() throws {
        let harness = try harness(Self.fetched)
        harness.on("/jwks", .ok(TestIssuer.keys("k1")))
        #expect(try harness.fetch(get("/x", TestIssuer.bearer())).status == 200)
        try harness.install(
            GatewayHarness.text(Self.call, "auth: customers", "", Self.top(Self.fetched))
                .replacing(
                    "backends:\n", with: "backends:\n  z: { url: \"http://127.0.0.1:7002\" }\n"),
            files: ["tools.yaml": Keys.entry("ci", "x", user: true)])
        #expect(try harness.fetch(get("/x", TestIssuer.bearer())).status == 200)
        #expect(fetches(harness) == ["0"])
        harness.pass(600_000)
        #expect(fetches(harness) == ["0", "600000"])
        harness.expectQuiet()
    }

    @Test func fetchesKeysOfAURL() throws {
        let harness = try harness("url: \"http://127.0.0.1:7003/jwks?v=2\"")
        harness.on("/jwks?v=2", .ok(TestIssuer.keys("k1")))
        #expect(try harness.fetch(get("/x", TestIssuer.bearer())).status == 200)
        #expect(harness.seen.first?["Host"] == "127.0.0.1:7003")
        harness.expectQuiet()
    }

    @Test func openBreakerOfTheBackendFailsTheFetch() throws {
        let harness = try GatewayHarness(
            Self.call, endpoint: "auth: customers",
            backend: "breaker: { min_requests: 1, try_again_after: 90s }",
            top: Self.top("from: a, get: /jwks"),
            files: ["tools.yaml": Keys.entry("ci", "x", user: true)])
        harness.on("/jwks", .status(500), .ok(TestIssuer.keys("k1")))
        harness.pass(60_001)
        #expect(fetches(harness) == ["0"])
        harness.pass(60_000)
        #expect(fetches(harness).count == 2)
        harness.expectQuiet()
    }

    // MARK: Claims in rules

    @Test func requireComparesAClaimWithAParameter() throws {
        let harness = try harness(
            auth: #"{ any: customers, require: [{ value: "{token.sub}", is: "{user}" }] }"#,
            "route: GET /users/{user}")
        for (claims, status) in [
            (["sub": "\"ann\""], 200), (["sub": "\"ben\""], 403), (["sub": ""], 403),
        ] {
            let response = try harness.fetch(get("/users/ann", TestIssuer.bearer(claims)))
            #expect(response.status == status, "\(claims)")
            #expect(reason(response) == (status == 200 ? nil : "claims"))
        }
        #expect(harness.seen.count == 1)
        harness.expectQuiet()
    }

    /// A limit by a claim, with a plan that another claim names.
    @Test func limitsCountByClaims() throws {
        let harness = try GatewayHarness(
            Self.call, endpoint: "auth: customers\nrate_limits: [it]",
            top: Self.top("file: keys.json")
                .replacing("  tools: { basic: { keys: tools.yaml } }", with: "") + """

                    rate_limits:
                      it:
                        rate: 1/h
                        key: "{token.tenant}"
                        plans: { gold: 3/h }
                        plan: "{token.plan}"
                    """, files: ["keys.json": TestIssuer.keys("k1")])
        func statuses(_ count: Int, _ claims: [String: String]) throws -> [Int] {
            try (0..<count).map { number in
                // Another subject each time: the tenant counts.
                let claims = claims.merging(["sub": "\"\(number)\""]) { $1 }
                return try harness.fetch(get("/x", TestIssuer.bearer(claims))).status
            }
        }
        let gold = ["tenant": "\"b\"", "plan": "\"gold\""]
        #expect(try statuses(2, ["tenant": "\"a\""]) == [200, 429])
        #expect(try statuses(4, gold) == [200, 200, 200, 429])
        #expect(try statuses(2, ["tenant": "\"c\"", "plan": "\"tin\""]) == [200, 429])
        #expect(try statuses(2, [:]) == [200, 429], "without the claim the address counts")
        harness.expectQuiet()
    }
    // MARK: Tokens without a subject

    @Test(arguments: ["", #""""#, "7"])
    func callerWithoutASubjectHasNoName(_ subject: String) throws {
        let harness = try harness(
            call: #"one: { from: a, get: "/1?c={request.caller?}", headers: { X-T: "{token.t}" } }"#
        )
        let line = TestIssuer.bearer(["sub": subject, "t": #""u""#])
        #expect(try harness.fetch(get("/x", line)).status == 200)
        #expect(harness.seen.first?.target == "/1?c=")
        // The positive control.
        let named = TestIssuer.bearer(["t": #""u""#])
        #expect(try harness.fetch(get("/x", named)).status == 200)
        #expect(harness.seen.last?.target == "/1?c=ann")
        #expect(harness.logged.count { $0.contains(#""caller":"#) } == 1)
        harness.expectQuiet()
    }

    @Test func conditionOnACallerWithoutASubjectFails() throws {
        let harness = try harness(
            auth: #"{ any: customers, require: [{ value: "{request.caller}", is_not: root }] }"#)
        let response = try harness.fetch(get("/x", TestIssuer.bearer(["sub": #""""#])))
        #expect(response.status == 403 && reason(response) == "claims")
        #expect(try harness.fetch(get("/x", TestIssuer.bearer())).status == 200)
        harness.expectQuiet()
    }

    /// Otherwise all callers without a subject, from everywhere, would count as one.
    @Test func limitByCallerCountsTheAddressWithoutASubject() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1 }", endpoint: "auth: customers\nrate_limits: [it]",
            top: Self.top("file: keys.json")
                .replacing("  tools: { basic: { keys: tools.yaml } }", with: "") + """

                    clients: { trusted_proxies: [127.0.0.1] }
                    rate_limits: { it: { rate: 1/h, key: caller } }
                    """, files: ["keys.json": TestIssuer.keys("k1")])
        let line = TestIssuer.bearer(["sub": ""])
        for client in ["1.1.1.1", "2.2.2.2"] {
            let text = get("/x", line, "X-Forwarded-For: \(client)")
            #expect(try harness.fetch(text).status == 200)
            #expect(try harness.fetch(text).status == 429)
        }
        harness.expectQuiet()
    }
}
