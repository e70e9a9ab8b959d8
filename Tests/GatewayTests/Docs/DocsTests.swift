import Foundation
import HTTP
import Testing
import YAMLReader

@testable import Gateway

/// Compares the manual with the program: tables of keys, reasons, examples, links.
///
/// With `RECORD=1` the generated parts of the pages are recorded.
@Suite struct DocsTests {
    static let folder = "docs/reference"
    static let blocks = Config.blockSchema.family
    static let pages =
        ["docs/README.md"]
        + Golden.names(in: "docs/guide", endingIn: ".md").map { "docs/guide/\($0)" }
        + Golden.names(in: folder, endingIn: ".md").map { "\(folder)/\($0)" }

    // MARK: Generated parts

    /// Expects this text between two marks of a page.
    private func expect(
        _ page: String, between begin: String, and end: String, _ text: String
    ) throws {
        let whole = try Golden.text(page)
        let start = try #require(whole.range(of: begin + "\n"), "\(page) has no '\(begin)'")
        let rest = whole[start.upperBound...]
        let stop = try #require(rest.range(of: end), "\(page) has no '\(end)'")
        let found = rest[..<stop.lowerBound]
        if Golden.isRecording, found != text + "\n" {
            try (whole[..<start.upperBound] + text + "\n" + rest[stop.lowerBound...])
                .write(
                    to: Golden.root.appending(path: page), atomically: true, encoding: .utf8)
            return
        }
        #expect(found == text + "\n", "\(page): RECORD=1 records it")
    }

    private static func page(of block: String) -> String {
        let names = [
            "Config": "file", "Property": "body", "Access": "clients", "AddressFile": "clients",
            "Authenticator": "auth", "APIKeys": "auth", "Passwords": "auth", "AuthRule": "auth",
            "ClientCertificateRule": "auth",
            "JWT": "jwt", "TokenKeys": "jwt", "TokenPlace": "jwt",
            "UserAgents": "clients",
            "ListenTLS": "listen-tls", "ListenCertificate": "listen-tls",
            "RateLimit": "rate-limits", "LimitUse": "rate-limits",
        ]
        return "\(folder)/\(names[block] ?? block.lowercased()).md"
    }

    @Test func findsAllBlocks() { #expect(Self.blocks.count == 48) }

    @Test(arguments: blocks.map(\.name)) func tableOfKeysIsUpToDate(_ name: String) throws {
        let block = try #require(Self.blocks.first { $0.name == name })
        try expect(
            Self.page(of: name), between: "<!-- keys: \(name) -->", and: "<!-- end of keys -->",
            "\n\(ReferenceTable(block: block).markdown)\n")
    }

    @Test func listOfReasonsIsUpToDate() throws {
        let lines = Reason.reference.map { "- `\($0.text)`" }.joined(separator: "\n")
        try expect(
            "\(Self.folder)/answers.md", between: "<!-- reasons -->",
            and: "<!-- end of reasons -->", "\n\(lines)\n")
    }

    @Test func tableOfFailureKindsIsUpToDate() throws {
        let page = try Golden.text("\(Self.folder)/answers.md")
        for facts in CallFailure.Kind.allCases.map(\.facts) {
            let retry =
                switch facts.retry {
                case .never: "no"
                case .unsent: "`connect`"
                case .lost: "`connect`, `terminated`"
                }
            let columns =
                " | \(facts.group.status.code) | \(facts.countsForBreaker ? "yes" : "no") | \(retry) |"
            let row = page.split(separator: "\n").first { $0.hasPrefix("| `\(facts.name)` |") }
            #expect(row?.hasSuffix(columns) == true, "\(facts.name): \(columns)")
        }
    }

    // MARK: Examples

    struct Example: CustomTestStringConvertible {
        let page: String
        let number: Int
        let text: String
        var testDescription: String { "\(page) \(number)" }
    }

    static let examples: [Example] = pages.flatMap { page in
        ((try? Golden.text(page)) ?? "").matches(of: /```yaml\n((?s:.*?))```/).enumerated().map {
            Example(page: page, number: $0.offset + 1, text: String($0.element.1))
        }
    }

    @Test func everyBlockHasAnExample() {
        for block in Self.blocks {
            #expect(Self.examples.contains { $0.page == Self.page(of: block.name) })
        }
    }

    @Test(arguments: examples) func exampleIsValid(_ example: Example) throws {
        let secret = [
            "/run/secrets/admin-token": "0123456789abcdef\n", "/run/secrets/store": "secret\n",
        ]
        let (config, problems) = load(
            secret.merging(["c.yaml": example.text]) { $1 })
        #expect(config != nil && problems.errorCount == 0, "\(problems.lines)")
        let document = try YAMLDocument.read(Array(example.text.utf8), file: "c.yaml")
        #expect(try SchemaValidator(ConfigSchema.text).problems(of: document) == [])
    }

    // MARK: Keys

    /// Every key is used in an example of the manual or in a plan that a test reads.
    @Test func everyKeyIsInAnExample() throws {
        var texts = Self.examples.map(\.text)
        for name in GoldenPlanTests.names where !name.hasPrefix("wrong-") {
            texts.append(try Golden.text("\(GoldenPlanTests.folder)/\(name)"))
        }
        let all = texts.joined(separator: "\n")
        for block in Self.blocks {
            for key in block.keys() where key.name != "$schema" {
                let isUsed = try Regex("(^|[\\s{,])\(key.name):").anchorsMatchLineEndings()
                #expect(all.contains(isUsed), "\(block.name).\(key.name)")
            }
        }
    }

    /// The keys of the configuration contract, block by block.
    @Test(arguments: [
        (
            "Config",
            "version listen admin workers log traces limits drain defaults backends endpoints include"
                + " hosts clients security_headers response_headers auth auth_failures store user_agents"
        ),
        ("Store", "url username password prefix timeout connect_timeout tls"),
        ("Log", "format level access"), ("Traces", "otlp sample slow service headers tls"),
        (
            "Limits",
            "connections requests_in_flight header_bytes header_count uri_bytes header_timeout"
                + " handshakes body_timeout write_timeout idle_timeout buffered_bytes"
                + " connections_per_client"
        ),
        ("Listen", "address mode group tls protocols redirect"),
        (
            "ListenTLS",
            "certificates cert key unknown_name policy min_version client_ca client_certificate"
                + " tickets handshake_timeout"
        ), ("ListenCertificate", "cert key"), ("Admin", "address hosts token mode group"),
        ("Drain", "delay timeout"), ("Clients", "trusted_proxies address_from allow deny"),
        ("Access", "allow deny"), ("AddressFile", "file"),
        ("Authenticator", "api_key basic jwt certificate"), ("ClientCertificateRule", "san"),
        ("APIKeys", "header keys"), ("Passwords", "keys"),
        ("AuthRule", "any scopes require"),
        ("JWT", "issuer audience algorithms keys token type leeway scopes_claim remember"),
        ("TokenKeys", "url from get file secret refresh stale unknown_kid"),
        ("TokenPlace", "header cookie"),
        ("CORS", "origins headers expose credentials max_age"),
        ("Defaults", "deadline timeout max_body connect_timeout cors auth"),
        (
            "Backend",
            "url urls headers forwarded connect_timeout max_concurrent queue breaker balance eject health"
                + " keepalive dns_ttl protocol http2 tls"
        ),
        ("Queue", "size wait"), ("Breaker", "open_at min_requests window try_again_after"),
        ("Eject", "after for"), ("Health", "path every readiness"),
        ("Keepalive", "max_idle idle_timeout"),
        ("HTTP2", "max_streams max_connections ping_after ping_timeout"),
        ("TLS", "ca cert key server_name verify"),
        (
            "Endpoint",
            "route params forward body deadline min_duration succeed_when report expose"
                + " partial_status cache_control server_timing max_in_flight round_up_to max_body"
                + " timeout calls cors clients response_headers auth headers content_types"
                + " unknown_query"
        ),
        ("Forward", "headers query"), ("Body", "type required properties max unknown_fields"),
        (
            "Param",
            "type min max min_length max_length pattern one_of default required in"
        ),
        (
            "Call",
            "from get post put patch delete head headers body forward forwarded required timeout accept"
                + " relay_status relay_body relay_headers retry hedge take keep drop rename at"
                + " on_collision if_failed after when"
        ),
        ("Retry", "attempts on backoff"), ("Hedge", "after"),
        ("Condition", "param value is is_not one_of has has_any exists all any not"),
        ("UserAgents", "deny"),
    ])
    func documentsAllKeys(_ name: String, _ keys: String) throws {
        let block = try #require(Self.blocks.first { $0.name == name })
        let known = Set(block.keys().map(\.name))
        let missing = keys.split(separator: " ").map(String.init).filter { !known.contains($0) }
        #expect(missing == [])
    }

    // MARK: The cookbook

    /// The configurations; `CookbookTests` serves them.
    static let recipes = Golden.names(in: "docs/guide/cookbook", endingIn: ".yaml")

    @Test func cookbookLinksEveryFile() throws {
        #expect(Self.recipes.count >= 12)
        let page = try Golden.text("docs/guide/cookbook.md")
        for name in Golden.names(in: "docs/guide/cookbook", endingIn: "") {
            #expect(page.contains("(cookbook/\(name))"), "\(name)")
        }
    }

    @Test(arguments: recipes) func recipePassesTheStrictCheck(_ name: String) throws {
        let text = try Golden.text("docs/guide/cookbook/\(name)")
        let key = "[{ id: ann, hash: \"sha256:\(String(repeating: "0", count: 64))\" }]"
        let (config, problems) = load(
            [
                "c.yaml": text, "developers.yaml": key, "partners.yaml": key,
                "/run/secrets/admin-token": "0123456789abcdef\n",
            ], environment: ["ADMIN_TOKEN": "0123456789abcdef"])
        #expect(config != nil && problems.lines == [])
        let document = try YAMLDocument.read(Array(text.utf8), file: "c.yaml")
        #expect(try SchemaValidator(ConfigSchema.text).problems(of: document) == [])
    }

    // MARK: Links

    @Test(arguments: pages) func everyLinkHasATarget(_ page: String) throws {
        let text = try Golden.text(page)
        let base = Golden.root.appending(path: page).deletingLastPathComponent()
        for link in text.matches(of: /\]\(([^)#:]+)(#[a-z-]+)?\)/) {
            let url = base.appending(path: String(link.1))
            #expect(FileManager.default.fileExists(atPath: url.path), "\(page): \(link.1)")
        }
    }

    @Test func readmeLinksTheManual() throws {
        #expect(try Golden.text("README.md").contains("(docs/README.md)"))
    }
}
