import Foundation
import TestSupport
import Testing
import WorkerSupport

/// `auth` with keys and passwords: which requests reach the backends, and the responses to all
/// others.
@Suite(.watched) struct AuthTests {
    static let call = "one: { from: a, get: /1, headers: { X-Caller: \"{request.caller}\" } }"
    static let top = """
        auth:
          partners: { api_key: { header: X-Api-Key, keys: partners.yaml } }
          tools: { basic: { keys: tools.yaml } }
          others: { api_key: { header: X-Api-Key, keys: others.yaml } }
          far: { api_key: { header: X-Far-Key, keys: others.yaml } }
        """
    /// The clock of the simulated loops begins at 2026-01-01T01:00:00Z.
    static let files = [
        "partners.yaml": Keys.entry("ann", "key-of-ann", "scopes: [read, write], plan: gold")
            + Keys.entry("ben", "key-of-ben", #"expires: "2026-01-01T01:00:01Z""#)
            + Keys.entry("old", "key-of-old", #"expires: "2026-01-01T02:00:00+01:00""#)
            + Keys.entry("ann", "second-key-of-ann"),
        "tools.yaml": Keys.entry("ci", "secret:word", user: true, "scopes: [read]")
            + Keys.entry("cd", "secret:word", user: true),
        "others.yaml": Keys.entry("zoe", "key-of-zoe"),
    ]

    private func harness(_ auth: String, _ endpoint: String = "", call: String = call) throws
        -> GatewayHarness
    {
        try GatewayHarness(
            call, endpoint: "auth: \(auth)\n\(endpoint)", top: Self.top, files: Self.files)
    }

    private func reason(_ response: ReceivedResponse) -> String? {
        response.body.firstMatch(of: /"reason":"(\w+)"/).map { String($0.1) }
    }

    // MARK: Keys

    @Test(arguments: [
        (["X-Api-Key: key-of-ann"], "ann"), (["x-api-key: second-key-of-ann"], "ann"),
        (["X-Api-Key:   key-of-ben  "], "ben"),
    ])
    func acceptsAKey(_ lines: [String], _ caller: String) throws {
        let harness = try harness("partners")
        let response = try harness.fetch(request("GET", "/x", lines))
        #expect(response.status == 200)
        #expect(response["Cache-Control"] == "no-store")
        #expect(response["WWW-Authenticate"] == nil)
        #expect(harness.seen.first?["X-Caller"] == caller)
        // Credentials are not forwarded.
        #expect(harness.seen.first?["X-Api-Key"] == nil)
        harness.expectQuiet()
    }

    @Test(arguments: [
        ([], 401, "missing"), (["Authorization: Bearer key-of-ann"], 401, "missing"),
        (["X-Api-Key:"], 401, "malformed"), (["X-Api-Key: key-of-Ann"], 401, "untrusted"),
        (["X-Api-Key: key-of-zoe"], 401, "untrusted"), (["X-Api-Key: key-of-old"], 401, "expired"),
        (["X-Api-Key: key-of-ann,key-of-ann"], 401, "untrusted"),
        (["X-Api-Key: " + String(repeating: "x", count: 513)], 401, "malformed"),
        (["X-Api-Key: key-of-ann", "X-Api-Key: key-of-ann"], 400, "malformed"),
        (["X-Api-Key: key-of-ann", "X-Api-Key:"], 400, "malformed"),
    ])
    func refusesARequest(_ lines: [String], _ status: Int, _ expected: String) throws {
        let harness = try harness("partners")
        let response = try harness.fetch(request("GET", "/x", lines + ["X-Request-Id: r"]))
        #expect(response.status == status)
        #expect(reason(response) == expected)
        #expect(response["WWW-Authenticate"] == #"ApiKey realm="partners""#)
        #expect(response["Cache-Control"] == "no-store")
        #expect(response["Content-Type"] == "application/problem+json")
        #expect(response["X-Content-Type-Options"] == "nosniff")
        #expect(harness.seen.isEmpty)
        harness.expectQuiet()
    }

    /// In virtual time: the key is valid in the last microsecond before it expires.
    @Test func keyExpiresAtItsTime() throws {
        let harness = try harness("partners")
        harness.pass(999.999)
        #expect(try harness.fetch(get("/x", "X-Api-Key: key-of-ben")).status == 200)
        harness.pass(0.001)
        let response = try harness.fetch(get("/x", "X-Api-Key: key-of-ben"))
        #expect(response.status == 401 && reason(response) == "expired")
        harness.expectQuiet()
    }

    // MARK: Passwords

    @Test(arguments: [
        (Keys.basic("ci", "secret:word"), "ci"), (Keys.basic("cd", "secret:word"), "cd"),
        (
            Keys.basic("ci", "secret:word").replacingOccurrences(of: "Basic ", with: "bAsIc   "),
            "ci"
        ),
    ])
    func acceptsAPassword(_ value: String, _ caller: String) throws {
        let harness = try harness("tools")
        let response = try harness.fetch(get("/x", "Authorization: \(value)"))
        #expect(response.status == 200)
        #expect(harness.seen.first?["X-Caller"] == caller)
        #expect(harness.seen.first?["Authorization"] == nil)
        harness.expectQuiet()
    }

    @Test(arguments: [
        (["Bearer abc"], 401, "missing"), (["Basicx abc"], 401, "missing"),
        (["Basic"], 401, "malformed"), (["Basic !!!!"], 401, "malformed"),
        (["Basic YQ=="], 401, "malformed"), (["Basic Y2k6"], 401, "malformed"),
        // The spare bits of `Y2k6eA==` are not zero.
        (["Basic Y2k6eB=="], 401, "malformed"), ([Keys.basic("", "x")], 401, "malformed"),
        ([Keys.basic("ci", "secret")], 401, "untrusted"),
        ([Keys.basic("CI", "secret:word")], 401, "untrusted"),
        ([Keys.basic("ci", "secret:word"), "Bearer x"], 400, "malformed"),
    ])
    func refusesAPassword(_ values: [String], _ status: Int, _ expected: String) throws {
        let harness = try harness("tools")
        let response = try harness.fetch(
            request("GET", "/x", values.map { "Authorization: \($0)" }))
        #expect(response.status == status && reason(response) == expected)
        #expect(response["WWW-Authenticate"] == #"Basic realm="tools", charset="UTF-8""#)
        #expect(harness.seen.isEmpty)
        harness.expectQuiet()
    }

    // MARK: Several authenticators

    private static let ann = "X-Api-Key: key-of-ann"
    private static let ci = "Authorization: \(Keys.basic("ci", "secret:word"))"

    @Test(arguments: [
        ([ann], 200, "ann"), ([ci], 200, "ci"), (["X-Api-Key: key-of-zoe"], 200, "zoe"),
        // The first authenticator that accepts the request decides.
        ([ci, ann], 200, "ann"), ([ci, "X-Api-Key: wrong"], 200, "ci"),
        ([ann, "Authorization: Basic !"], 200, "ann"),
        ([], 401, "missing"), (["X-Api-Key: wrong"], 401, "untrusted"),
        // What is known about a key says more than that another file does not have it.
        (["X-Api-Key: key-of-old"], 401, "expired"),
        (["X-Api-Key: wrong", "Authorization: Basic !"], 401, "untrusted"),
        (["X-Api-Key: key-of-ann", "X-Api-Key: key-of-zoe"], 400, "malformed"),
    ])
    func oneOfSeveralIsEnough(_ lines: [String], _ status: Int, _ expected: String) throws {
        let harness = try harness("[partners, tools, others]")
        let response = try harness.fetch(request("GET", "/x", lines))
        #expect(response.status == status)
        if status == 200 {
            #expect(harness.seen.first?["X-Caller"] == expected)
        } else {
            #expect(reason(response) == expected)
            #expect(
                response["WWW-Authenticate"]
                    == #"ApiKey realm="partners" | Basic realm="tools", charset="UTF-8""#)
            #expect(harness.seen.isEmpty)
        }
        harness.expectQuiet()
    }

    /// Two keys in different headers are two credentials of one kind, whatever their values.
    @Test func keysInTwoHeadersAre400() throws {
        let harness = try harness("[partners, far]")
        #expect(try harness.fetch(get("/x", "X-Far-Key: key-of-zoe")).status == 200)
        let response = try harness.fetch(get("/x", "X-Far-Key: key-of-zoe", Self.ann))
        #expect(response.status == 400 && reason(response) == "malformed")
        harness.expectQuiet()
    }

    // MARK: Scopes

    @Test(arguments: [
        ("[read]", 200), ("read", 200), ("[read, write]", 200), ("[write, admin]", 403),
        ("Read", 403),
    ])
    func callerMustHaveAllScopes(_ scopes: String, _ status: Int) throws {
        let harness = try harness("{ any: partners, scopes: \(scopes) }")
        let response = try harness.fetch(get("/x", Self.ann))
        #expect(response.status == status)
        if status == 403 {
            #expect(reason(response) == "scope")
            let scope = scopes.filter { !"[],".contains($0) }
            #expect(
                response["WWW-Authenticate"]
                    == #"ApiKey realm="partners", error="insufficient_scope", scope="\#(scope)""#)
        }
        #expect(harness.seen.count == (status == 200 ? 1 : 0))
        harness.expectQuiet()
    }

    // MARK: Conditions

    @Test(arguments: [
        ("/x/ann", [ann], 200), ("/x/ben", [ann], 403), ("/x/ann", [], 401), ("/x/ci", [ci], 200),
        ("/x/cd", [ci], 403),
    ])
    func requirementsMustHold(_ target: String, _ lines: [String], _ status: Int) throws {
        let harness = try harness(
            "{ any: [partners, tools], require: [{ value: \"{request.caller}\", is: \"{id}\" }] }",
            "route: GET /x/{id}")
        let response = try harness.fetch(request("GET", target, lines))
        #expect(response.status == status)
        if status == 403 { #expect(reason(response) == "claims") }
        #expect(harness.seen.count == (status == 200 ? 1 : 0))
        harness.expectQuiet()
    }

    /// A parameter that only a condition uses is not unknown.
    @Test(arguments: [("?purpose=audit", 200), ("?purpose=play", 403), ("?purpose=audit&x=1", 400)])
    func parametersOfRequirementsAreKnown(_ query: String, _ status: Int) throws {
        let harness = try harness(
            "{ any: partners, require: [{ value: \"{request.query.purpose}\", is: audit }] }",
            "unknown_query: refuse")
        #expect(try harness.fetch(get("/x\(query)", Self.ann)).status == status)
        harness.expectQuiet()
    }

    // MARK: Where it applies

    @Test func publicEndpointsAcceptEveryRequest() throws {
        let harness = try GatewayHarness(
            config: GatewayHarness.text(
                "one: { from: a, get: /1 }", "auth: none", "",
                Self.top + "\ndefaults: { auth: partners }")
                + "\n  - route: GET /y\n    calls: { one: { from: a, get: /1 } }\n",
            files: Self.files)
        let open = try harness.fetch(get("/x", "X-Api-Key: wrong"))
        #expect(open.status == 200 && open["Cache-Control"] == nil)
        #expect(try harness.fetch(get("/y")).status == 401)
        #expect(try harness.fetch(get("/y", Self.ann)).status == 200)
        #expect(try harness.fetch(get("/unknown")).status == 404)
        harness.expectQuiet()
    }

    /// Without a delay, the 401 would be distinguishable by its time.
    @Test(arguments: [([], "401 at 300"), ([ann], "200 at 300")])
    func refusalIsPadded(_ lines: [String], _ outcome: String) throws {
        let harness = try harness("partners", "min_duration: 300ms\ndeadline: 250ms")
        #expect(try harness.fetch(request("GET", "/x", lines)).outcome == outcome)
        harness.expectQuiet()
    }

    /// The body of a refused request is not read.
    @Test func refusesBeforeTheBody() throws {
        let harness = try harness("partners", "route: POST /x")
        let client = try harness.send(
            request("POST", "/x", ["Content-Length: 100000", "Expect: 100-continue"]))
        #expect(harness.response(of: client).status == 401)
        harness.expectQuiet()
    }

    @Test func credentialIsForwardedWhereItIsListed() throws {
        let harness = try harness("partners", "forward: { headers: [X-Api-Key] }")
        #expect(try harness.fetch(get("/x", Self.ann)).status == 200)
        #expect(harness.seen.first?["X-Api-Key"] == "key-of-ann")
        harness.expectQuiet()
    }

    @Test(arguments: [
        ("cache_control: private", "private"), ("", "no-store"),
    ])
    func responsesAreNotStoredByDefault(_ endpoint: String, _ expected: String) throws {
        let harness = try harness("partners", endpoint)
        #expect(try harness.fetch(get("/x", Self.ann))["Cache-Control"] == expected)
        harness.on("/1", .status(500))
        let failed = try harness.fetch(get("/x", Self.ann))
        #expect(failed.status == 502 && failed["Cache-Control"] == "no-store")
        harness.expectQuiet()
    }

    @Test func refusalHasTheHeadersOfCORS() throws {
        let harness = try harness(
            "partners", "cors: { origins: [\"https://a.test\"], headers: [X-Api-Key] }")
        let refused = try harness.fetch(get("/x", "Origin: https://a.test"))
        #expect(refused.status == 401)
        #expect(refused["Access-Control-Allow-Origin"] == "https://a.test")
        // A preflight has no credentials.
        let preflight = try harness.fetch(
            request(
                "OPTIONS", "/x",
                ["Origin: https://a.test", "Access-Control-Request-Method: GET"]))
        #expect(preflight.status == 204)
        harness.expectQuiet()
    }

    // MARK: Failures

    private func limited(_ auth: String, _ rate: String = "2/m") throws -> GatewayHarness {
        try GatewayHarness(
            Self.call, endpoint: "auth: \(auth)", top: Self.top + "\nauth_failures: \(rate)",
            files: Self.files)
    }

    private func status(_ harness: GatewayHarness, _ lines: String...) throws -> Int {
        try harness.fetch(request("GET", "/x", lines)).status
    }

    @Test func failuresAreLimitedByAddress() throws {
        let harness = try limited("partners")
        #expect(try status(harness, "X-Api-Key: wrong") == 401)
        #expect(try status(harness, "X-Api-Key:") == 401)
        let refused = try harness.fetch(get("/x", "X-Api-Key: wrong"))
        #expect(refused.status == 429 && reason(refused) == "quota")
        #expect(refused["Retry-After"] == "30" && refused["WWW-Authenticate"] == nil)
        #expect(refused.body.contains(#""violated-policies":["auth_failures"]"#))
        // Neither missing nor valid credentials depend on the limit.
        #expect(try status(harness) == 401)
        #expect(try status(harness, "X-Api-Key: key-of-old") == 401)
        #expect(try status(harness, Self.ann) == 200)
        harness.pass(29_900)
        #expect(try status(harness, "X-Api-Key: wrong") == 429)
        harness.pass(100)
        #expect(try status(harness, "X-Api-Key: wrong") == 401)
        harness.expectQuiet()
    }

    /// A right guess must look like a wrong one.
    @Test func passwordsAreNotCheckedBeyondTheLimit() throws {
        let harness = try limited("tools")
        #expect(try status(harness, Self.ci) == 200)
        for _ in 0..<2 { #expect(try status(harness, "Authorization: Basic !") == 401) }
        #expect(try status(harness, Self.ci) == 429)
        #expect(harness.seen.count == 1)
        harness.pass(30_000)
        #expect(try status(harness, Self.ci) == 200)
        harness.expectQuiet()
    }

    /// Otherwise a caller with a key could guess passwords without limit.
    @Test func aWrongPasswordBesideAValidKeyCounts() throws {
        let harness = try limited("[tools, partners]")
        let guess = "Authorization: " + Keys.basic("ci", "wrong")
        for _ in 0..<2 { #expect(try status(harness, guess, Self.ann) == 200) }
        #expect(try status(harness, guess) == 429)
        // Beyond the limit the key is accepted, and the password is not checked.
        let response = try harness.fetch(request("GET", "/x", [Self.ci, Self.ann]))
        #expect(response.status == 200 && harness.seen.last?["X-Caller"] == "ann")
        harness.expectQuiet()
    }

    @Test func eachWrongCredentialOfARequestCounts() throws {
        let harness = try limited("[tools, partners]", "3/m")
        let guess = "Authorization: " + Keys.basic("ci", "wrong")
        #expect(try status(harness, guess, "X-Api-Key: wrong") == 401)
        #expect(try status(harness, "X-Api-Key: wrong") == 401)
        #expect(try status(harness, "X-Api-Key: wrong") == 429)
        harness.expectQuiet()
    }

    /// The same key for two authenticators is one credential: valid for the second one, or one
    /// failure.
    @Test func aCredentialThatAnotherAuthenticatorAcceptsIsNoFailure() throws {
        let harness = try limited("[partners, others]")
        for _ in 0..<5 { #expect(try status(harness, "X-Api-Key: key-of-zoe") == 200) }
        #expect(try status(harness, "X-Api-Key: wrong") == 401)
        #expect(try status(harness, "X-Api-Key: wrong") == 401)
        #expect(try status(harness, "X-Api-Key: wrong") == 429)
        harness.expectQuiet()
    }

    @Test func failuresAreUnlimitedWhereTheLimitIsOff() throws {
        let harness = try limited("partners", "off")
        for _ in 0..<150 { #expect(try status(harness, "X-Api-Key: wrong") == 401) }
        harness.expectQuiet()
    }

    @Test func failuresAreLimitedByDefault() throws {
        let harness = try harness("partners")
        for _ in 0..<100 { #expect(try status(harness, "X-Api-Key: wrong") == 401) }
        #expect(try status(harness, "X-Api-Key: wrong") == 429)
        harness.expectQuiet()
    }

    /// An accepted request without a wrong credential is no failure.
    @Test func acceptedRequestsDoNotCount() throws {
        let harness = try limited("[partners, tools]")
        for _ in 0..<4 { #expect(try status(harness, Self.ci, Self.ann) == 200) }
        for _ in 0..<4 { #expect(try status(harness, Self.ci) == 200) }
        #expect(try status(harness, "X-Api-Key: wrong") == 401)
        harness.expectQuiet()
    }

    @Test func reloadKeepsTheFailures() throws {
        let harness = try limited("partners")
        for _ in 0..<2 { #expect(try status(harness, "X-Api-Key: wrong") == 401) }
        try harness.install(
            GatewayHarness.text(
                Self.call, "auth: partners", "", Self.top + "\nauth_failures: 2/m"),
            files: Self.files)
        #expect(try status(harness, "X-Api-Key: wrong") == 429)
        harness.expectQuiet()
    }

    // MARK: Reload

    @Test func reloadReplacesTheKeys() throws {
        let harness = try harness("partners")
        #expect(try harness.fetch(get("/x", Self.ann)).status == 200)
        let text = GatewayHarness.text(Self.call, "auth: partners", "", Self.top)
        var files = Self.files
        files["partners.yaml"] = Keys.entry("new", "key-of-new")
        try harness.install(text, files: files)
        #expect(try harness.fetch(get("/x", Self.ann)).status == 401)
        #expect(try harness.fetch(get("/x", "X-Api-Key: key-of-new")).status == 200)
        harness.expectQuiet()
    }
}

/// What operators see of authentication in the log, and no secrets.
@Suite(.watched) struct AuthRecordTests {
    private static let files = AuthTests.files
    private static let endpoint = "auth: { any: [partners, tools], scopes: [write] }"

    private func harness(_ log: String = "") throws -> GatewayHarness {
        try GatewayHarness(
            AuthTests.call, endpoint: Self.endpoint, top: AuthTests.top + "\n" + log,
            files: Self.files)
    }

    private func send(_ harness: GatewayHarness) throws {
        _ = try harness.fetch(get("/x", "X-Api-Key: key-of-ann"))
        _ = try harness.fetch(get("/x", "X-Api-Key: key-of-ben"))
        _ = try harness.fetch(get("/x", "X-Api-Key: unknown-key"))
        _ = try harness.fetch(get("/x", "Authorization: Basic c2VjcmV0"))
        _ = try harness.fetch(get("/x"))
    }

    @Test func logHasTheCallerAndTheReason() throws {
        let harness = try harness()
        try send(harness)
        let lines = harness.logged.filter { $0.contains(#""msg":"request""#) }.map { line in
            [/"caller":"(\w+)"/, /"status":(\d+)/, /"reason":"(\w+)"/].map { pattern in
                line.firstMatch(of: pattern).map { String($0.1) } ?? "-"
            }.joined(separator: " ")
        }
        #expect(
            lines == [
                "ann 200 -", "ben 403 scope", "- 401 untrusted", "- 401 malformed", "- 401 missing",
            ])
        harness.expectQuiet()
    }

    @Test func combinedLogHasTheCaller() throws {
        let harness = try harness("log: { format: combined }")
        try send(harness)
        let words = harness.logged.filter { $0.contains("GET /x") }.map { line in
            line.split(separator: " ").prefix(3).joined(separator: " ")
        }
        #expect(
            words == [
                "127.0.0.1 - ann", "127.0.0.1 - ben", "127.0.0.1 - -", "127.0.0.1 - -",
                "127.0.0.1 - -",
            ])
        harness.expectQuiet()
    }

    /// Neither the log nor the metrics contain a credential, not even one that is refused.
    @Test func secretsAreNotRecorded() throws {
        let harness = try harness("log: { level: debug }")
        try send(harness)
        let all = harness.logged.joined() + harness.responseCounts.joined()
        // The positive control: the requests are in the log.
        #expect(all.contains("untrusted"))
        for secret in ["key-of", "c2VjcmV0", "sha256"] { #expect(!all.contains(secret)) }
        harness.expectQuiet()
    }
}
