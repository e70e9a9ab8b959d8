import Foundation
import HTTP
import Testing

@testable import Gateway

/// The configuration as operators see it: complete, and without secrets.
@Suite struct ConfigListingTests {
    private func listing(
        _ files: [String: String], environment: [String: String] = [:]
    ) throws -> String {
        let all = files.merging(Certificates.files) { own, _ in own }
        let tree = ConfigLoader.listing(
            "c.yaml", files: ConfigFiles(texts: all), environment: { environment[$0] })
        return String(decoding: try #require(tree).compact, as: UTF8.self)
    }

    @Test func masksTheQueryOfTheKeysOfAnIssuer() throws {
        let listing = try listing([
            "c.yaml": """
            version: 1
            auth: { t: { jwt: { issuer: i, audience: s, keys: { url: "http://127.0.0.1/k?key=s3cr3t&v=${NAME}" } } } }
            """
        ])
        #expect(listing.contains("http://127.0.0.1/k?key=***&v=${NAME}"), "\(listing)")
        #expect(!listing.contains("s3cr3t"))
    }

    /// A secret under every key that may hold one.
    private static let secrets = """
        version: 1
        admin: { address: "127.0.0.1:1", token: "s3cr3t-s3cr3t-s3cr3t" }
        store: { url: "redis://h:1", password: s3cr3t }
        response_headers: { X-All: s3cr3t }
        backends:
          b:
            url: "https://h:1"
            headers: { X-Key: s3cr3t, X-Part: "a-${NAME}-s3cr3t", X-Brace: "{s3cr3t}", X-Default: "${NAME:-s3cr3t}" }
            tls: { cert: client.pem, key: client.key }
        endpoints:
          - route: "GET /x/{id}"
            response_headers: { X-One: s3cr3t }
            calls:
              one:
                from: b
                get: "/1?key=s3cr3t&id={id}&s={id}s3cr3t&v=${NAME}&d=${NAME:-s3cr3t}"
                headers: { Authorization: "Bearer s3cr3t", Accept: application/json }
              two:
                from: b
                post: "/2"
                body: { user: "{id}", password: s3cr3t, list: ["s3cr3t-{id}", 7, true] }
                if_failed: { name: s3cr3t }
              three: { from: b, post: "/3", form: { user: "{id}", password: s3cr3t, n: "{id}s3cr3t" } }
            respond: { put: { a: s3cr3t, b: "{id}" }, default: { c: "s3cr3t" } }
          - route: GET /y
            calls: { one: { from: b, get: / } }
            respond: { root: ["s3cr3t", "{one.x}"] }
        """

    @Test func masksEverySecret() throws {
        let loaded = load(["c.yaml": Self.secrets], environment: ["NAME": "value-of-name"])
        #expect(loaded.config != nil, "\(loaded.problems.lines)")
        let text = try listing(["c.yaml": Self.secrets], environment: ["NAME": "value-of-name"])
        for secret in ["s3cr3t", "value-of-name", "PRIVATE"] {
            #expect(!text.contains(secret), "\(secret): \(text)")
        }
        for part in [
            #""token":"***""#, #""password":"***""#, #""X-Key":"***""#,
            #""X-Part":"***${NAME}***""#,
            #""X-Brace":"***""#, #""X-Default":"${NAME:-***}""#,
            #""get":"/1?key=***&id={id}&s={id}***&v=${NAME}&d=${NAME:-***}""#,
            #""Authorization":"***","Accept":"application/json""#,
            #""body":{"user":"{id}","password":"***","list":["***{id}",7,true]}"#,
            #""if_failed":{"name":"***"}"#, #""key":"client.key""#, #""root":["***","{one.x}"]"#,
            #""put":{"a":"***","b":"{id}"},"default":{"c":"***"}"#,
        ] {
            #expect(text.contains(part), "\(part): \(text)")
        }
    }

    /// A new key of a kind that may hold secrets must be in the configuration above.
    @Test func theConfigurationHasEveryKeyThatMayHoldASecret() {
        for block in Config.blockSchema.family {
            for key in block.keys() where Self.mayHoldSecrets(key.value) {
                // The methods of a call have one meaning.
                let isMethod = ["put", "patch", "delete", "head"].contains(key.name)
                #expect(
                    isMethod || Self.secrets.contains("\(key.name): "),
                    "\(block.name).\(key.name)")
            }
        }
    }

    private static func mayHoldSecrets(_ schema: ValueSchema) -> Bool {
        switch schema {
        case .text(.secret), .text(.password), .text(.pathWithReferences), .headers, .anything: true
        case .list(let item), .oneOrMany(let item), .map(let item): mayHoldSecrets(item)
        case .either(let choices): choices.contains(where: mayHoldSecrets)
        default: false
        }
    }

    @Test func showsDefaultsAndWrittenValues() throws {
        let text = try listing([
            "c.yaml": """
            version: 1
            workers: 3
            log: { level: warning }
            backends: { b: { url: "http://h:1", max_concurrent: 0x10 } }
            endpoints:
              - route: GET /x
                calls: { one: { from: b, get: /, retry: { on: [503, connect] } } }
            """
        ])
        for part in [
            #""version":1,"listen":"127.0.0.1:8080","workers":3,"#, #""level":"warning""#,
            #""format":"json""#, #""connections":10000"#, #""deadline":"5s""#,
            #""max_concurrent":16"#, #""max_idle":1024"#,
            #""retry":{"attempts":2,"on":[503,"connect"]"#,
        ] {
            #expect(text.contains(part), "\(part): \(text)")
        }
        // Features that are off have no defaults that apply.
        for name in ["breaker", "eject", "admin", "tls", "hedge"] {
            #expect(!text.contains("\"\(name)\""), "\(name)")
        }
    }

    @Test func joinsIncludedFiles() throws {
        let text = try listing(
            [
                "c.yaml": """
                version: 1
                include: "${DIR}/*.yaml"
                backends: { b: { url: "http://h:1" } }
                """,
                "parts/one.yaml": """
                backends: { c: { url: "http://h:2" } }
                endpoints: [{ route: GET /one, calls: { one: { from: c, get: / } } }]
                """,
            ], environment: ["DIR": "parts"])
        #expect(
            text.contains(#""backends":{"b":{"#) && text.contains(#"},"c":{"url":"http://h:2""#))
        #expect(text.contains(#""endpoints":[{"route":"GET /one""#))
        #expect(text.contains(#""include":"${DIR}/*.yaml""#))
    }

    @Test(arguments: [
        ("/x?a=1", "/x?a=***"), ("/x?a", "/x?a"), ("/x=1", "/x=1"), ("/x?a=", "/x?a="),
        ("/x?a={{b}}", "/x?a=***"), ("/x?a=$${b}", "/x?a=***"), ("/x?a={b}c{d}", "/x?a={b}***{d}"),
        ("/x?a=b=c&d=e?f", "/x?a=***&d=***"), ("/{a}?b={", "/{a}?b=***"),
    ])
    func masksValuesOfQueries(_ path: String, _ masked: String) {
        #expect(QueryMask.masked(path) == masked)
    }

    // MARK: explain

    @Test func explanationMasksLiterals() throws {
        let environment = ["NAME": "value-of-name"]
        // Clients receive the fallback of a call and the values of `respond`, so they are no secrets.
        let text = Self.secrets.replacing("if_failed: { name: s3cr3t }", with: "if_failed: {}")
            .replacing("{ put: { a: s3cr3t, ", with: "{ put: { ")
            .replacing("default: { c: \"s3cr3t\" }", with: "drop: [c]")
        let loaded = load(["c.yaml": text], environment: environment)
        let plan = try Planner.plan(try #require(loaded.config), processors: 1)
        let target = try #require(Target("/x/7"))
        // The positive control: the command line shows what the operator's file has.
        #expect(Explanation(plan, .get, target).text.contains("s3cr3t"))
        let masked = Explanation(plan, .get, target, masksLiterals: true).text
        #expect(!masked.contains("s3cr3t") && !masked.contains("value-of-name"), "\(masked)")
        for part in [
            "GET https://h:1/1?key=***&id=7&s=7***", "header  X-Key: ***",
            "header  Authorization: ***", "header  Accept: application/json", "body    not shown",
        ] {
            #expect(masked.contains(part), "\(part): \(masked)")
        }
    }
}
