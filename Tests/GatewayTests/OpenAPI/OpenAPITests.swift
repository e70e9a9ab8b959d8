import Basics
import Foundation
import JSONText
import Testing

@testable import Gateway

/// The description of endpoints for clients: its whole text in a file, and the rules of the
/// specification (OpenAPI 3.1) for every description.
@Suite struct OpenAPITests {
    static let folder = "Tests/Fixtures/openapi"

    private static func description(
        of text: String, server: String? = nil, host: String? = nil, files: [String: String] = [:]
    ) throws -> String {
        let (config, problems) = load(
            files.merging(["c.yaml": text]) { $1 }, environment: ["USERS_KEY": "k"])
        let known = try #require(config, "\(problems.lines)")
        let plan = try Planner.plan(known, processors: 1)
        return OpenAPIDocument(known, plan, title: "Test", server: server, host: host).text
    }

    private static func rich() throws -> String { try Golden.text(folder + "/rich.yaml") }

    @Test func richConfiguration() throws {
        try Golden.expect(
            Self.folder + "/rich.json", says: try Self.description(of: try Self.rich()))
    }

    /// The schema of a response.
    private static func schema(
        _ text: String, status: String, type: String = "application/json"
    ) throws -> [String: Any] {
        let document = try Document(try description(of: text))
        let operation = try #require(document.operations.first).members
        let responses = try #require(operation["responses"] as? [String: Any])
        let response = try #require(responses[status] as? [String: Any])
        let content = try #require(response["content"] as? [String: Any])
        let media = try #require(content[type] as? [String: Any])
        return try #require(media["schema"] as? [String: Any])
    }

    @Test func respondIsDescribed() throws {
        let text = Snippet.endpoint(
            """
            report: off
            respond:
              status: 201
              put: { currency: EUR, name: "{user.a} b", id: "{user.id}", gone: 1 }
              drop: [gone, user.x]
              default: { user.avatar: none, user.a: 1, note: null }
            """, route: "GET /x",
            calls: """
                user: { from: a, get: /1, keep: [a, id, x], required: true }
                gone: { from: a, get: /2, required: true }
                """)
        let schema = try Self.schema(text, status: "201")
        let properties = try #require(schema["properties"] as? [String: [String: Any]])
        #expect(Set(properties.keys) == ["user", "currency", "name", "id", "gone", "note"])
        #expect(schema["required"] as? [String] == ["user", "currency", "gone", "note"])
        #expect(properties["gone"]?["const"] as? Int == 1)
        #expect(properties["name"]?["type"] as? String == "string")
        let user = try #require(properties["user"]?["properties"] as? [String: [String: Any]])
        #expect(Set(user.keys) == ["a", "id", "avatar"])
        #expect((user["a"]?["anyOf"] as? [Any])?.count == 2)
    }

    private static let sites = """
        version: 1
        listen: [{ name: public, address: "127.0.0.1:8080" }]
        backends: { a: { url: "http://a:1" } }
        endpoints:
          - { route: GET /x, hosts: [shop.test], server_timing: true, calls: { shop: { from: a, get: /1 } } }
          - { route: GET /x, hosts: ["*.shop.test"], calls: { label: { from: a, get: /1 } } }
          - { route: GET /x, calls: { all: { from: a, get: /1 } } }
          - route: ANY /p
            hosts: [shop.test]
            when: { value: "{request.header.X}", is: "1" }
            proxy: { to: a, path: /canary }
          - { route: ANY /p, hosts: [shop.test], proxy: { to: a, path: /p } }
          - { route: POST /p, listener: public, calls: { all: { from: a, post: /1 } } }
        """

    /// A path and a method have one operation: without a condition, and first for all hosts.
    @Test(arguments: [
        (nil, "all", "http://127.0.0.1:8080"), ("shop.test", "shop", "http://shop.test:8080"),
        ("A.shop.test", "label", "http://a.shop.test:8080"),
        ("other.test", "all", "http://other.test:8080"),
    ])
    func routesOfHostsAreDescribedOnce(_ host: String?, _ part: String, _ url: String) throws {
        let document = try Document(try Self.description(of: Self.sites, host: host))
        let parts = Self.parts(document.paths["/x"]?["get"])
        #expect(parts.contains(part))
        #expect(Self.urls(document.root["servers"]) == [url])
        let passed = document.paths["/p"]?["get"] as? [String: Any]
        let own = Self.urls(passed?["servers"])
        #expect(own == (host == nil ? ["http://shop.test:8080"] : []))
        #expect((passed != nil) == (host == nil || host == "shop.test"))
        #expect(document.paths["/p"]?["post"] != nil)
    }

    private static func urls(_ servers: Any?) -> [String] {
        (servers as? [[String: Any]] ?? []).compactMap { $0["url"] as? String }
    }

    /// The names of the parts of a response.
    private static func parts(_ operation: Any?) -> [String] {
        let responses = (operation as? [String: Any])?["responses"] as? [String: [String: Any]]
        let content = responses?["200"]?["content"] as? [String: [String: Any]]
        let schema = content?["application/json"]?["schema"] as? [String: Any]
        return (schema?["properties"] as? [String: Any] ?? [:]).keys.sorted()
    }

    @Test func partsAreDescribed() throws {
        let text = Snippet.endpoint(
            "parts: { as: [sse, ndjson] }", route: "GET /x",
            calls: "user: { from: a, get: /1, required: true }")
        let document = try Document(try Self.description(of: text))
        let get = document.paths["/x"]?["get"] as? [String: Any]
        let success = (get?["responses"] as? [String: Any])?["200"] as? [String: Any]
        let content = try #require(success?["content"] as? [String: Any])
        #expect(
            Set(content.keys)
                == ["application/json", "application/x-ndjson", "text/event-stream"])
        let headers = try #require(success?["headers"] as? [String: [String: Any]])
        #expect(headers["Gateway-Complete"]?["required"] == nil)
        #expect(headers["X-Request-Id"]?["$ref"] != nil)
    }

    @Test func rootAndFixedBodiesAreDescribed() throws {
        let call = "c: { from: a, get: /1 }"
        func schema(_ keys: String, calls: String, status: String, type: String) throws -> String? {
            let text = """
                version: 1
                backends: { a: { url: http://h:1 } }
                endpoints: [{ route: GET /x, \(calls) respond: \(keys) }, { route: GET /y, calls: { \(call) } }]
                """
            return try Self.schema(text, status: status, type: type)["type"].map { "\($0)" }
        }
        #expect(
            try schema(
                #"{ root: ["{c.x}"] }"#, calls: "calls: { \(call) },", status: "200",
                type: "application/json") == "array")
        #expect(
            try schema(
                #"{ status: 404, body: { a: 1 } }"#, calls: "", status: "404",
                type: "application/json") == "object")
        #expect(
            try schema(
                #"{ body: "<p>", headers: { Content-Type: text/html } }"#, calls: "",
                status: "200", type: "text/html") == "string")
    }

    @Test func placesAreMembers() throws {
        let text = Snippet.endpoint(
            "report: off", route: "GET /x",
            calls: """
                user: { from: a, get: /1, keep: [name] }
                city: { from: a, get: /2, at: user.address.city }
                deep: { from: a, get: /3, at: made.part, keep: [] }
                en: { from: a, get: /4, at: "news[]" }
                none: { from: a, get: /5, at: none, required: true }
                one: { from: a, get: /6, at: profile, required: true }
                two: { from: a, get: /7, at: profile, required: true }
                """)
        let schema = try Self.schema(text, status: "200")
        let properties = try #require(schema["properties"] as? [String: [String: Any]])
        #expect(Set(properties.keys) == ["user", "made", "news", "profile"])
        #expect(schema["required"] as? [String] == ["user", "profile"], "each once")
        let user = try #require(properties["user"])
        #expect(user["type"] == nil && user["additionalProperties"] == nil)
        let address = try #require((user["properties"] as? [String: [String: Any]])?["address"])
        #expect(address["type"] as? String == "object")
        #expect((address["properties"] as? [String: Any])?.keys.map(\.self) == ["city"])
        #expect(properties["made"]?["type"] as? String == "object")
        #expect(properties["news"]?["type"] as? String == "array")
    }

    /// Values that a required call uses are mandatory; values that it uses with a `?` are optional.
    @Test func optionalReferencesAreNotRequired() throws {
        let text = Snippet.endpoint(
            "report: off", route: "POST /x",
            calls: """
                one:
                  from: a
                  required: true
                  post: "/?a={request.query.needed}&b={request.query.optional?}"
                  headers: { A: "{request.header.X-Needed}", B: "{request.header.X-Optional?}" }
                  body: "{request.body?}"
                  forward: { query: all }
                """)
        let document = try Document(try Self.description(of: text))
        let operation = try #require(document.operations.first).members
        let parameters = try #require(operation["parameters"] as? [[String: Any]])
        #expect(
            parameters.map { "\($0["name"] ?? "") \($0["required"] ?? "")" } == [
                "needed 1", "optional 0", "X-Needed 1", "X-Optional 0",
            ])
        let body = try #require(operation["requestBody"] as? [String: Any])
        #expect(body["required"] as? Bool == false)
        let words = try #require(operation["description"] as? String)
        #expect(words.hasSuffix("parameters that are not described are forwarded to backends."))
    }

    /// With `unknown_query: refuse` these are known, and others are refused.
    @Test(arguments: ["calls: { one: { from: a, get: / } }", "proxy: a"])
    func describesWhatLimitsAndRequireUse(_ rest: String) throws {
        let text = """
            version: 1
            auth: { k: { api_key: { keys: keys.yaml } } }
            rate_limits:
              r: { rate: 1/s, key: "{request.query.rl}" }
              h: { rate: 1/s, key: "{request.header.X-Tenant}" }
            backends: { a: { url: "http://h" } }
            endpoints:
              - route: GET /x
                rate_limits: [{ limit: r, when: { value: "{request.query.wh}", exists: true } }, h]
                auth:
                  any: k
                  require:
                    - { value: "{request.query.rq}", is: "1" }
                    - { value: "{request.header.X-Req}", is: "1" }
                \(rest)
            """
        let document = try Document(
            try Self.description(of: text, files: ["keys.yaml": "[]"]))
        let operation = try #require(document.paths["/x"]?["get"])
        let parameters = try #require(operation["parameters"] as? [[String: Any]])
        #expect(
            parameters.map { "\($0["in"] ?? "") \($0["name"] ?? "") \($0["required"] ?? "")" } == [
                "query rl 0", "query wh 0", "query rq 0", "header X-Tenant 0", "header X-Req 0",
            ])
    }

    /// A valid credential may not suffice: for a scope, a condition, or a claim that a call uses.
    @Test(arguments: [
        ("any: k", "/", false), ("{ any: k, scopes: [a] }", "/", true),
        (#"{ any: k, require: [{ value: "{request.query.q}", exists: true }] }"#, "/", true),
        ("any: t", "/{token.sub}", true),
    ])
    func forbidsCallersOnlyWithARule(_ rule: String, _ path: String, _ isListed: Bool) throws {
        let auth = rule.hasPrefix("{") ? rule : "{ \(rule) }"
        let text = """
            version: 1
            auth:
              k: { api_key: { keys: keys.yaml } }
              t: { jwt: { issuer: i, audience: a, keys: { url: "http://127.0.0.1/jwks" } } }
            backends: { a: { url: "http://h" } }
            endpoints:
              - { route: GET /x, auth: \(auth), calls: { one: { from: a, get: "\(path)" } } }
            """
        let document = try Document(try Self.description(of: text, files: ["keys.yaml": "[]"]))
        let responses = try #require(document.paths["/x"]?["get"]?["responses"] as? [String: Any])
        #expect(responses.keys.contains("403") == isListed && responses.keys.contains("401"))
    }

    /// A name may occur once in the path, in the query and among the headers, whatever its case there.
    @Test func parametersOfOneNameAreSeveral() throws {
        let text = Snippet.endpoint(
            "params: { Id: { in: header }, q: {} }", route: "GET /x/{id}",
            calls: """
                one:
                  from: a
                  get: "/{id}?a={request.query.id}&q={q}{request.query.q?}"
                  headers: { A: "{request.header.iD?}{Id}", B: "{request.header.ID?}" }
                  forward: { query: [id, Id], headers: [q] }
                """)
        let document = try Document(try Self.description(of: text))
        let operation = try #require(document.operations.first).members
        let parameters = try #require(operation["parameters"] as? [[String: Any]])
        #expect(
            parameters.map { "\($0["in"] ?? "") \($0["name"] ?? "")" } == [
                "path id", "header Id", "query q", "query id", "query Id", "header q",
            ])
    }

    /// A route may have a parameter with the name that `*` has in the description.
    @Test func theRestOfAPathHasANameOfItsOwn() throws {
        let document = try Document(
            try Self.description(
                of: """
                    version: 1
                    backends: { a: { url: "http://a" } }
                    endpoints:
                      - { route: "GET /{rest}/*", proxy: a }
                      - { route: "POST /{id}/*", proxy: a }
                    """))
        for method in ["get", "post"] {
            let operation = try #require(document.paths["/{rest}/{rest_}"]?[method])
            let parameters = try #require(operation["parameters"] as? [[String: Any]])
            #expect(parameters.map { $0["name"] as? String } == ["rest", "rest_"])
        }
    }

    // MARK: Requests that are passed through

    private func relayed(_ proxy: String, endpoint: String = "") throws -> [String: [String: Any]] {
        let document = try Document(
            try Self.description(
                of: """
                    version: 1
                    backends: { a: { url: "http://a" } }
                    endpoints:
                      - route: "ANY /users/{id}/*"
                    \(endpoint)
                        proxy: { to: a, \(proxy) }
                    """))
        let paths = try #require(document.root["paths"] as? [String: [String: Any]])
        let path = try #require(paths["/users/{id}/{rest}"])
        return path.compactMapValues { $0 as? [String: Any] }
    }

    @Test func describesRequestsThatArePassedThrough() throws {
        let methods = try relayed("max_body: 1MiB")
        #expect(
            methods.keys.sorted() == ["delete", "get", "head", "options", "patch", "post", "put"])
        for (method, operation) in methods {
            let responses = try #require(operation["responses"] as? [String: Any])
            let body = operation["requestBody"] as? [String: Any]
            let takesBody = ["patch", "post", "put"].contains(method)
            #expect((body != nil) == takesBody)
            #expect(body == nil || body?["description"] as? String == "At most 1MiB.")
            let own = ["400", "502", "503", "504", "default"] + (takesBody ? ["408", "413"] : [])
            #expect(Set(responses.keys) == Set(own))
        }
    }

    @Test func describesWhatAProxyForwards() throws {
        let get = try #require(
            try relayed(
                "upgrade: [websocket]", endpoint: "    forward: { headers: [X-A], query: [page] }")[
                    "get"])
        let parameters = try #require(get["parameters"] as? [[String: Any]])
        #expect(
            parameters.map { "\($0["in"] ?? "") \($0["name"] ?? "")" } == [
                "path id", "path rest", "query page", "header X-A",
            ])
        #expect((get["responses"] as? [String: Any])?["101"] != nil)
        #expect((get["description"] as? String)?.contains("upgraded to websocket") == true)
    }

    // MARK: The specification

    private struct Document {
        let root: [String: Any]

        init(_ text: String) throws {
            let json = try JSONSerialization.jsonObject(with: Data(text.utf8))
            root = try #require(json as? [String: Any])
        }

        var paths: [String: [String: [String: Any]]] {
            root["paths"] as? [String: [String: [String: Any]]] ?? [:]
        }

        var operations: [(path: String, method: String, members: [String: Any])] {
            paths.sorted { $0.key < $1.key }.flatMap { path, operations in
                operations.sorted { $0.key < $1.key }.map { (path, $0.key, $0.value) }
            }
        }

        /// The target of a reference; nil if there is none.
        func target(of reference: String) -> Any? {
            var here: Any? = root
            for step in reference.dropFirst(2).split(separator: "/") {
                here = (here as? [String: Any])?[String(step)]
            }
            return here
        }

        /// All values of a key, at any depth.
        func all(_ key: String) -> [Any] {
            func search(_ value: Any) -> [Any] {
                if let list = value as? [Any] { return list.flatMap(search) }
                guard let object = value as? [String: Any] else { return [] }
                return (object[key].map { [$0] } ?? []) + object.values.flatMap(search)
            }
            return search(root)
        }
    }

    static let examples: [String] = [Example.text, (try? rich()) ?? ""]

    @Test(arguments: examples) func everyReferenceHasADefinition(_ example: String) throws {
        let document = try Document(try Self.description(of: example))
        let references = document.all("$ref").compactMap { $0 as? String }
        #expect(!references.isEmpty)
        for reference in references { #expect(document.target(of: reference) != nil) }
    }

    @Test(arguments: examples) func operationsHaveUniqueNames(_ example: String) throws {
        let names = try Document(try Self.description(of: example)).operations.compactMap {
            $0.members["operationId"] as? String
        }
        #expect(names.count >= 4 && Set(names).count == names.count)
    }

    /// 4.8.9: every `{name}` of a path is a required parameter, and no other one is.
    @Test(arguments: examples) func pathsAndParametersAgree(_ example: String) throws {
        let operations = try Document(try Self.description(of: example)).operations
        #expect(operations.contains { $0.path.contains("{") })
        for operation in operations {
            let named = Set(operation.path.matches(of: /\{([^}]+)\}/).map { String($0.1) })
            let parameters = operation.members["parameters"] as? [[String: Any]] ?? []
            let declared = parameters.filter { $0["in"] as? String == "path" }
            #expect(Set(declared.compactMap { $0["name"] as? String }) == named)
            for parameter in declared { #expect(parameter["required"] as? Bool == true) }
            let keys = parameters.map { "\($0["in"] ?? "") \($0["name"] ?? "")" }
            #expect(Set(keys).count == keys.count, "a parameter is unique by name and place")
        }
    }

    @Test(arguments: examples) func describesEveryResponse(_ example: String) throws {
        let document = try Document(try Self.description(of: example))
        try #require(!document.operations.isEmpty)
        for operation in document.operations {
            let answers = try #require(operation.members["responses"] as? [String: [String: Any]])
            #expect(answers["200"] != nil && answers["default"] != nil)
            for (status, answer) in answers {
                #expect(status.wholeMatch(of: /[2-5]\d\d|[1-5]XX|default/) != nil)
                let reference = answer["$ref"] as? String
                let whole =
                    reference.flatMap { document.target(of: $0) as? [String: Any] } ?? answer
                #expect(whole["description"] is String)
                // HEAD has no body.
                #expect((whole["content"] == nil) == (operation.method == "head"))
            }
        }
    }

    // MARK: Single facts

    private func operation(_ endpoint: String) throws -> [String: Any] {
        let text = """
            version: 1
            backends: { a: { url: "http://h" } }
            endpoints:
              - { route: GET /x, \(endpoint) }

            """
        let document = try Document(try Self.description(of: text))
        return try #require(document.paths["/x"]?["get"])
    }

    @Test(arguments: [
        ("", "Responds within 5s."),
        (
            "deadline: 380ms, min_duration: 400ms, ",
            "Every response takes 400ms, whatever the outcome."
        ),
        (
            "deadline: 1s, min_duration: 400ms, ",
            "No response takes less than 400ms; the deadline is 1s."
        ),
        (
            "deadline: 1s, min_duration: 400ms, round_up_to: 100ms, ",
            "No response takes less than 400ms, later ones in steps of 100ms; the deadline is 1s."
        ),
    ])
    func describesResponseTimes(_ keys: String, _ words: String) throws {
        let operation = try operation(keys + "calls: { one: { from: a, get: / } }")
        #expect(operation["description"] as? String == words)
    }

    @Test func forwardedCredentialsAreASecurityScheme() throws {
        func security(_ endpoint: String) throws -> String {
            let value = try operation(endpoint)["security"]
            guard let list = value as? [[String: [String]]] else { return "none" }
            return list.map { $0.keys.sorted().joined() }.joined(separator: "|")
        }
        #expect(try security("calls: { one: { from: a, get: / } }") == "none")
        #expect(
            try security(
                "forward: { headers: [authorization] }, calls: { one: { from: a, get: / } }")
                == "Authorization|")
        let needed =
            "calls: { one: { from: a, get: /, required: true, "
            + "headers: { Authorization: \"{request.header.Authorization}\" } } }"
        #expect(try security(needed) == "Authorization")
    }

    @Test func relayedHeadersAreDescribed() throws {
        let operation = try operation(
            "calls: { one: { from: a, get: /, relay_headers: [ETag] }, "
                + "two: { from: a, get: /, relay_headers: [etag] } }")
        let answers = try #require(operation["responses"] as? [String: [String: Any]])
        let headers = try #require(answers["200"]?["headers"] as? [String: Any])
        #expect(headers.keys.sorted() == ["ETag", "Gateway-Complete", "X-Request-Id"])
        let problem = answers["502"]?["headers"] as? [String: Any]
        #expect(problem?["ETag"] == nil)
    }

    /// Values that a shape produces are valid by the schema of their part, and others are not.
    @Test(arguments: [
        (
            "keep: [id, owner.name, \"items[].price\"]",
            #"{"id":1,"x":2,"owner":{"name":"a","y":1},"items":[{"price":1,"z":2},{"q":1}]}"#, true
        ),
        ("keep: [id], rename: { id: number }", #"{"id":7,"other":8}"#, true),
        ("keep: [a.b.c]", #"{"a":5}"#, true), ("keep: [a.b.c]", "[1]", true),
        ("take: \"items[].id\"", #"{"items":[{"id":1},{"id":"2"}]}"#, true),
        ("take: items, keep: [\"[].id\"]", #"{"items":[{"id":1,"x":0}]}"#, true),
        ("keep: [\"[0].id\", \"[1].name\"]", #"[{"id":1},{"name":2},3]"#, true),
        ("drop: [id]", #"{"id":7,"other":8}"#, false),
    ])
    func describesPartsAfterTransformation(
        _ shape: String, _ answer: String, _ isLimited: Bool
    ) throws {
        let text = """
            version: 1
            backends: { a: { url: "http://h" } }
            endpoints:
              - { route: GET /x, calls: { one: { from: a, get: /, required: true, \(shape) } } }

            """
        let (config, problems) = load(["c.yaml": text], environment: [:])
        let plan = try Planner.plan(try #require(config, "\(problems.lines)"), processors: 1)
        let call = plan.endpoints[0].calls[0]
        let schema = OpenAPIPart(call).tree.text
        var dropped: [String] = []
        let shaped = try call.shape.applied(
            to: try JSONSlice(validating: Bytes(answer)), reporting: &dropped)
        #expect(try accepts(schema, String(shaped.bytes)), "\(shaped) \(schema)")
        #expect(try accepts(schema, "null"))
        for other in [#"{"unknown":1}"#, "\"text\""] {
            #expect(try accepts(schema, other) != isLimited, "\(other) \(schema)")
        }
    }

    private func accepts(_ schema: String, _ json: String) throws -> Bool {
        let document = try JSONConfigSource.read(Array(json.utf8), file: "part.json")
        return try SchemaValidator(schema).problems(of: document).isEmpty
    }

    @Test func describesFallbackAsPossibleValue() throws {
        let operation = try operation(
            "calls: { one: { from: a, get: /, keep: [id], if_failed: {none: true} } }")
        let text = "\(operation)"
        #expect(text.contains("anyOf") && text.contains("const"))
    }

    @Test func containsNothingAboutBackends() throws {
        for (text, words) in [(try Self.rich(), "internal"), (Example.text, "700")] {
            #expect(text.contains(words), "the control")
            #expect(try !Self.description(of: text).contains(words))
        }
    }

    @Test(arguments: [
        ("127.0.0.1:9000", nil, "http://127.0.0.1:9000"),
        ("0.0.0.0:80", nil, "http://localhost:80"),
        ("\"[::]:81\"", nil, "http://localhost:81"), ("\"[::1]:81\"", nil, "http://[::1]:81"),
        ("unix:/x", nil, "/"), ("127.0.0.1:0", nil, "/"),
        ("127.0.0.1:9000", "https://api.example.com", "https://api.example.com"),
    ])
    func describesServerURL(_ listen: String, _ server: String?, _ url: String) throws {
        let text = Snippet.top("listen: \(listen)")
        let document = try Document(try Self.description(of: text, server: server))
        #expect(document.root["servers"] as? [[String: String]] == [["url": url]])
    }
}
