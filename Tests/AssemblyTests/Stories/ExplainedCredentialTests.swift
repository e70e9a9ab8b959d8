import Gateway
import HTTP
import SimReactor
import Testing
import WorkerSupport

/// `explain` without `--run`: whether the credential of the request is accepted, as far as nothing has
/// to be sent for it.
@Suite struct ExplainedCredentialTests {
    private static let top = """
        auth:
          partners: { api_key: { header: X-Api-Key, keys: partners.yaml } }
          tools: { basic: { keys: tools.yaml } }
          customers:
            jwt: { issuer: "https://id.test/", audience: shop, algorithms: [EdDSA], keys: { file: keys.json } }
          fetched:
            jwt: { issuer: "https://id.test/", audience: shop, algorithms: [EdDSA], keys: { from: c, get: /jwks }, token: { header: X-Token } }
        """
    private static let files = [
        "partners.yaml": Keys.entry("ann", "key-of-ann", "scopes: [read], plan: gold"),
        "tools.yaml": Keys.entry("ci", "word", user: true), "keys.json": TestIssuer.keys("k1"),
    ]
    private static let all = "[partners, tools, customers, fetched]"

    /// The lines from `auth` on, and whether the request is accepted.
    private func explained(
        _ auth: String, _ fields: [(FieldName, String)] = [], more: String = "",
        call: String = "one: { from: a, get: /1 }", path: String = "/x"
    ) throws -> (lines: [String], isAccepted: Bool, json: String) {
        let plan = try GatewayHarness.plan(
            GatewayHarness.text(call, "auth: \(auth)\n\(more)", "", Self.top), files: Self.files)
        var head = Fields()
        for (name, value) in fields { head.append(name, try #require(FieldValue(value))) }
        let loop = SimNetwork(seed: 1).makeLoop("explain")
        let explanation = Explanation(plan, .get, try #require(Target(path)), head)
            .checkingCredential(on: loop)
        let lines = explanation.text.split(separator: "\n").map(String.init)
        return (
            Array(lines.drop { !$0.hasPrefix("auth") }.dropFirst()), explanation.isAccepted,
            explanation.json
        )
    }

    /// Behind a refused credential no call is sent.
    @Test(arguments: [("key-of-ann", true), ("wrong", false)])
    func jsonHasTheCallsThatAreSent(key: String, isAccepted: Bool) throws {
        let json = try explained("[partners]", [("X-Api-Key", key)]).json
        #expect(json.contains(#""state": "sent""#) == isAccepted)
        #expect(json.contains(#""accepted": \#(isAccepted)"#))
    }

    @Test(arguments: [
        ("X-Api-Key", "key-of-ann", "ann, accepted by partners, with read; plan gold"),
        ("Authorization", Keys.basic("ci", "word"), "ci, accepted by tools"),
        ("Authorization", "Bearer " + TestIssuer.token(), "ann, accepted by customers"),
    ])
    func showsTheCaller(_ name: String, _ value: String, _ caller: String) throws {
        let field = (try #require(FieldName(name)), value)
        let result = try explained(Self.all, [field])
        #expect(result.lines.first == "caller    \(caller)")
        #expect(result.isAccepted && result.lines.contains { $0.contains("GET http://") })
    }

    static let refusals: [(String, String, String)] = [
        ("X-Api-Key", "key-of-Ann", "401: untrusted"),
        ("Authorization", Keys.basic("ci", "wort"), "401: untrusted"),
        ("Authorization", "Basic x", "401: malformed"),
        ("Authorization", "Bearer " + TestIssuer.token(by: "k2"), "401: untrusted: unknown_key"),
        ("Authorization", "Bearer " + TestIssuer.token(["exp": "1"]), "401: expired"),
    ]

    @Test(arguments: refusals)
    func showsTheRefusal(_ name: String, _ value: String, _ expected: String) throws {
        let field = (try #require(FieldName(name)), value)
        let result = try explained("[partners, tools, customers]", [field])
        #expect(result.lines == ["refused   \(expected)"])
        #expect(!result.isAccepted)
    }

    @Test func severalCredentialsAre400() throws {
        let fields = [(FieldName.authorization, "Basic x"), (.authorization, "Bearer y")]
        let result = try explained("[tools, customers]", fields)
        #expect(result.lines == ["refused   400: malformed"])
    }

    @Test func scopesAndRequireAreDecided() throws {
        let key = [(FieldName("X-Api-Key"), "key-of-ann")]
        let scopes = try explained("{ any: partners, scopes: write }", key)
        #expect(scopes.lines == ["refused   403: scope"])
        let rule = #"{ any: customers, require: [{ value: "{token.sub}", is: "{id}" }] }"#
        let token = [(FieldName.authorization, "Bearer " + TestIssuer.token())]
        let more = "params: { id: {} }"
        #expect(
            try explained(rule, token, more: more, path: "/x?id=ben").lines == [
                #"refused   403: claims: {token.sub} is "{id}" does not hold"#
            ])
        #expect(try explained(rule, token, more: more, path: "/x?id=ann").isAccepted)
        let client = #"{ any: partners, require: [{ value: "{request.client}", is: 192.0.2.1 }] }"#
        let open = try explained(client, key)
        #expect(
            open.lines.first
                == "caller    not decided without --run: it depends on the client's address whether"
                + #" {request.client} is "192.0.2.1""#)
        #expect(open.isAccepted)
    }

    /// Their keys are at the issuer, and nothing is sent.
    @Test func keysThatAreFetchedDecideNothing() throws {
        let token = [(FieldName("X-Token"), TestIssuer.token())]
        let result = try explained("fetched", token)
        #expect(
            result.lines.first
                == "caller    not decided without --run: the keys of fetched are fetched")
        #expect(result.isAccepted)
        let malformed = [(FieldName("X-Token"), "x")]
        #expect(
            try explained("fetched", malformed).lines == [
                "refused   401: malformed: not_three_parts"
            ])
    }

    @Test func withoutCredentialTheCallsAreThoseOfAnAcceptedCaller() throws {
        let result = try explained(
            "customers", call: "one: { from: a, get: \"/1?user={token.sub}\" }")
        #expect(result.lines.first?.hasPrefix("caller    none: without a credential 401") == true)
        #expect(result.lines.contains { $0.contains("?user={token.sub}") })
        #expect(result.isAccepted)
    }

    @Test func callsHaveTheClaimsOfTheToken() throws {
        let call = """
            one: { from: a, get: "/1?user={token.sub}", headers: { X-By: "{request.caller}" } }
            two: { from: a, get: /2, when: { value: "{token.sub}", is: ben } }
            """
        let token = [(FieldName.authorization, "Bearer " + TestIssuer.token())]
        let lines = try explained("customers", token, call: call).lines
        #expect(lines.contains { $0.contains("?user=ann") })
        #expect(lines.contains { $0.contains("X-By: ann") })
        #expect(lines.contains { $0.contains("two") && $0.contains(#"{token.sub} is "ben""#) })
    }

    @Test func publicEndpointHasNoLine() throws {
        let result = try explained("none")
        #expect(result.lines.isEmpty && result.isAccepted)
    }
}
