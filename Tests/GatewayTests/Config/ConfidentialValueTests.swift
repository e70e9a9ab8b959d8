import Basics
import HTTP
import Testing

@testable import Gateway

/// Values of variables and secret files are never printed.
@Suite struct ConfidentialValueTests {
    static let secret = "s3cr3t-AKIAQ7"

    private static let main = """
        version: 1
        listen: 127.0.0.1:8080
        log: { level: info }
        defaults: { deadline: 1s, timeout: 500ms }
        backends:
          b: { url: "http://127.0.0.1:7001", headers: { X-K: "k" } }
        endpoints:
          - route: "GET /x/{a}"
            params: { a: { type: string } }
            calls:
              one: { from: b, get: "/{a}", timeout: 300ms }
        """

    /// Replacements, each of which makes `check` report a problem with the value.
    static let mistakes: [(String, String)] = [
        ("deadline: 1s", #"deadline: "${KEY}""#),
        ("deadline: 1s", #"deadline: "1${KEY}""#),
        ("deadline: 1s", #"deadline: "${LONG}""#),
        ("timeout: 300ms", #"timeout: "${LONG}""#),
        ("http://127.0.0.1:7001", "${KEY}"),
        ("http://127.0.0.1:7001", "http://127.0.0.1:${KEY}"),
        ("http://127.0.0.1:7001", "http://-${KEY}-"),
        ("http://127.0.0.1:7001", "${KEY}://127.0.0.1"),
        ("http://127.0.0.1:7001", "http://127.0.0.1/${KEY} x"),
        (#"X-K: "k""#, #"X-K: "${LINES}""#),
        ("timeout: 300ms", #"take: "${KEY}..[""#),
        ("timeout: 300ms", #"accept: ["${KEY}"]"#),
        ("timeout: 300ms", #"required: "${KEY}""#),
        ("timeout: 300ms", #"relay_headers: ["${KEY} x"]"#),
        ("timeout: 300ms", #"on_collision: "${KEY}""#),
        ("timeout: 300ms", #"rename: { x: "${KEY}", y: "${KEY}" }"#),
        ("timeout: 300ms", #"when: { param: "${KEY}" }"#),
        ("timeout: 300ms", #"retry: { on: ["${KEY}"] }"#),
        ("timeout: 300ms", #"if_failed: { a: "${NUMBER}" }"#),
        ("timeout: 300ms", #"forward: { headers: ["${KEY}*"] }"#),
        ("from: b", #"from: "${KEY}""#),
        (#"get: "/{a}""#, #"get: "/{${KEY}}""#),
        ("timeout: 300ms", #"after: ["${KEY}"]"#),
        ("timeout: 300ms", #"after: ["one${KEY}", "${KEY}"]"#),
        ("timeout: 300ms", #"after: ["${NEAR}"]"#),
        ("timeout: 300ms", #"after: ["${SECOND}", "${SECOND}"] }, s3cr3t: { from: b, get: /"#),
        ("timeout: 300ms", #"forward: { headers: ["${HEADER}"] }"#),
        ("version: 1", "version: 1\nclients: { trusted_proxies: [\"${NETWORK}\"] }"),
        (#"get: "/{a}""#, #"get: "${KEY}/{a}""#),
        (#"get: "/{a}""#, #"get: "/{a}${KEY} #""#),
        ("127.0.0.1:8080", "\"${KEY}\""),
        ("127.0.0.1:8080", "\"${KEY}:x\""),
        ("GET /x/{a}", "GET ${KEY}"),
        ("GET /x/{a}", "${KEY} /x"),
        ("GET /x/{a}", "GET /{${KEY}.}"),
        ("GET /x/{a}", "GET /:${KEY}"),
        ("level: info", #"level: "${KEY}""#),
        ("type: string", #"pattern: "(${KEY}""#),
        ("type: string", #"type: integer, one_of: ["${KEY}"]"#),
        ("type: string", #"one_of: ["${KEY}"], in: query, default: x"#),
        ("type: string", #"pattern: "${KEY}", in: query, default: x"#),
        ("type: string", #"type: integer, in: query, default: "${KEY}""#),
        ("http://127.0.0.1:7001\"", #"https://a", tls: { ca: "${KEY}" }"#),
        ("http://127.0.0.1:7001\"", #"https://a", tls: { server_name: "${KEY}:" }"#),
        ("version: 1", "version: 1\ninclude: \"${KEY}/*.yaml\""),
        ("version: 1", "version: 1\ninclude: \"${KEY}.yaml\""),
        ("version: 1", "version: 1\nadmin: { address: \"a:1\", token: \"${KEY}\" }"),
    ]

    private static let environment = [
        "KEY": secret, "LINES": "\(secret)\nsecond", "LONG": "7077s", "NUMBER": "0x\(secret)",
        "NEAR": "ones3cr3t", "SECOND": "s3cr3t", "HEADER": "X-Forwarded-s3cr3t",
        "NETWORK": "0.0.0.0/0",
    ]

    @Test(arguments: mistakes) func reportsVariableInsteadOfValue(_ text: String, _ mistake: String)
    {
        let config = Self.main.replacing(text, with: mistake, maxReplacements: 1)
        #expect(config != Self.main)
        let problems = load(["c.yaml": config], environment: Self.environment).problems
        let all = problems.lines.joined(separator: "\n") + problems.json
        #expect(
            !["s3cr3t", "AKIAQ7", "7077", "0.0.0.0"].contains { all.contains($0) }, "\(all)")
        let isRight = ["NUMBER", "deadline: \"${LONG}", "get: \"${KEY}/{a}\""].contains {
            mistake.contains($0)
        }
        #expect(!problems.isEmpty || isRight)
    }

    @Test func reportsVariableOfRefusedValue() {
        let config = Self.main.replacing("deadline: 1s", with: #"deadline: "${KEY}""#)
        #expect(
            load(["c.yaml": config], environment: Self.environment).problems.lines.first
                == "c.yaml:4:23: error: 'deadline' in 'defaults' must be a number with a unit, such as 300ms, 2s, 5m or 1h (the value comes from '${KEY}')"
        )
        let url = Self.main.replacing(":7001", with: ":${KEY}")
        #expect(
            load(["c.yaml": url], environment: Self.environment).problems.lines.first
                == "c.yaml:6:13: error: 'url' in backend 'b' has no valid port (1 to 65535): 'http://127.0.0.1:${KEY}'"
        )
    }

    /// A network that is derived from the value is not shown either.
    @Test func hidesSuggestionForConfidentialNetwork() {
        let config = Self.main.replacing(
            "log: {", with: "clients: { trusted_proxies: [\"${N}\"] }\nlog: {")
        #expect(
            load(["c.yaml": config], environment: ["N": "10.0.0.1/8"]).problems.lines.first
                == "c.yaml:3:30: error: 'trusted_proxies' in 'clients' must not have bits set after its prefix (the value comes from '${N}')"
        )
    }

    /// The positive control: values in the file are quoted.
    @Test func quotesValuesOfTheFile() {
        let config = Self.main.replacing("7001", with: "70010")
        #expect(
            load(["c.yaml": config]).problems.lines.first?.hasSuffix("65535): '70010'") == true)
    }

    @Test func explainShowsVariablesInsteadOfTheirValues() throws {
        let config = Self.main.replacing(#"get: "/{a}""#, with: #"get: "/{a}?key=${KEY}&b=1""#)
            .replacing(":7001", with: ":7001/${KEY}")
        let loaded = load(["c.yaml": config], environment: Self.environment)
        let plan = try Planner.plan(#require(loaded.config), processors: 1)
        let text = Explanation(plan, .get, try #require(Target("/x/7"))).text
        #expect(text.contains("GET http://127.0.0.1:7001/${KEY}/7?key=${KEY}&b=1"), "\(text)")
        #expect(!text.contains(Self.secret))
    }

    @Test func pathOfAProxyShowsItsVariable() throws {
        let config = """
            version: 1
            backends: { b: { url: "http://127.0.0.1:7001/base" } }
            endpoints: [{ route: GET /x/*, proxy: { to: b, path: "/${KEY}/*" } }]
            """
        let loaded = load(["c.yaml": config], environment: Self.environment)
        let plan = try Planner.plan(
            #require(loaded.config, "\(loaded.problems.lines)"), processors: 1)
        let summary = PlanPrinter(plan).summary
        let text = Explanation(plan, .get, try #require(Target("/x/7?a=1"))).text
        #expect(summary.contains("-> b /${KEY}/*"), "\(summary)")
        #expect(text.contains("GET http://127.0.0.1:7001/base/${KEY}/*?a=1 ("), "\(text)")
        #expect(!(summary + text).contains(Self.secret))
    }

    private static let entry = """
        version: 1
        hosts: ["${KEY}"]
        clients: { deny: ["${NETWORK}"] }
        auth:
          tokens:
            jwt:
              issuer: ["https://id.test/", "${KEY}"]
              audience: shop
              keys: { url: "http://127.0.0.1/k?key=L1TERAL&more=${KEY}" }
          keys: { api_key: { header: "X-${KEY}", keys: keys.yaml } }
        backends:
          b: { url: "http://127.0.0.1:7001" }
        endpoints:
          - route: GET /x
            auth: { any: [tokens, keys], scopes: ["${KEY}"] }
            clients: { allow: ["${NETWORK}", 10.0.0.0/8] }
            calls: { one: { from: b, get: /1 } }
        """

    @Test func warningAboutAHeaderShowsItsVariable() {
        let config = Self.entry.replacing(
            "    clients: { allow",
            with: "    cors: { origins: [\"https://a.example\"] }\n    clients: { allow")
        let lines = load(
            ["c.yaml": config, "keys.yaml": "[]"], environment: Self.environment
        ).problems.lines
        #expect(lines.contains { $0.contains("pages cannot send 'X-${KEY}'") }, "\(lines)")
        #expect(!lines.contains { $0.contains(Self.secret) })
    }

    /// The lines about hosts, clients and authenticators, in `check`, `explain` and on admin pages.
    @Test func summaryShowsVariablesInsteadOfTheirValues() throws {
        let loaded = load(
            ["c.yaml": Self.entry, "keys.yaml": "[]"], environment: Self.environment)
        let plan = try Planner.plan(
            #require(loaded.config, "\(loaded.problems.lines)"), processors: 1)
        let explained = Explanation(plan, .get, try #require(Target("/x"))).text
        let text = PlanPrinter(plan).summary + explained
        for line in [
            "hosts: ${KEY}", "clients: deny ${NETWORK}",
            "clients of GET /x: allow ${NETWORK}, 10.0.0.0/8",
            "auth tokens: jwt of https://id.test/ or ${KEY}, RS256 ES256, keys of"
                + " http://127.0.0.1/k?key=***&more=${KEY}",
            "auth keys: api_key in X-${KEY}, 0 keys",
            "tokens or keys, with ${KEY}",
        ] {
            #expect(text.contains(line), "\(line) in \(text)")
        }
        for value in ["s3cr3t", "AKIAQ7", "0.0.0.0/0", "L1TERAL"] {
            #expect(!text.contains(value), "\(value) in \(text)")
        }
    }

    /// The value itself is sent.
    @Test func planContainsTheValues() throws {
        let config = Self.main.replacing(#"get: "/{a}""#, with: #"get: "/key/${KEY}""#)
        let loaded = load(["c.yaml": config], environment: Self.environment)
        let plan = try Planner.plan(#require(loaded.config), processors: 1)
        let target = plan.endpoints[0].calls[0].target.constant.map { String($0) }
        #expect(target == "/key/\(Self.secret)")
    }
}
