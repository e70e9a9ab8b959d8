import Rehearsal

/// The drawn rules for requests before their endpoint is known, and the headers of all responses.
struct DrawnEntry {
    let keys: Tree

    /// Nil if the configuration has no `clients`.
    var clients: DrawnClients? { keys["clients"].map(DrawnClients.init) }
    /// Empty for all.
    var hosts: [String] { keys[networks: "hosts"] }
    /// `user_agents` denies bots.
    var deniesAgents: Bool { keys["user_agents"] != nil }
    /// Nil means `nosniff`.
    var securityHeaders: String? { keys[text: "security_headers"] }
    /// Of all responses, in this order.
    var headers: [PeerField] { keys.responseHeaders }
    /// `defaults.cors`.
    var cors: DrawnCORS? {
        keys["defaults"]?["cors"].map { DrawnCORS(number: 0, keys: $0) }
    }
}

/// `clients:`, with the simulated clients as trusted proxies: an address in `X-Forwarded-For` counts.
struct DrawnClients {
    let keys: Tree

    var allow: [String] { keys[networks: "allow"] }
    var deny: [String] { keys[networks: "deny"] }
}

struct DrawnCORS: Equatable {
    /// Distinguishes blocks with the same contents: methods of a path with the same block are listed.
    var number: Int
    let keys: Tree

    var origins: [String] { keys[texts: "origins"] }
    var headers: [String] { keys[texts: "headers"] }
    var expose: [String] { keys[texts: "expose"] }
    var hasCredentials: Bool { keys["credentials"] != nil }
    /// In seconds.
    var maxAge: Int { keys[number: "max_age"] ?? 0 }
}

extension DrawnConfig {
    var entry: DrawnEntry { DrawnEntry(keys: keys) }
}

extension Tree {
    /// The texts of a list as they are written: addresses of IPv6 have quotes.
    subscript(networks key: String) -> [String] { self[key]?.elements?.map(\.written) ?? [] }

    var responseHeaders: [PeerField] {
        (self["response_headers"]?.members ?? []).map { ($0.key, $0.value.plain) }
    }
}

/// Draws the rules, and what requests have for them.
struct EntryDraw {
    let random: RandomSource

    /// The host of a request that says nothing else.
    static let host = "gateway.test"
    static let addresses = ["198.51.100.1", "198.51.100.77", "203.0.113.5", "2001:db8::1"]
    static let origins = [
        "https://shop.test", "https://a.shop.test", "http://shop.test",
        "https://shop.test.evil.test",
        "null",
    ]

    func entry() -> [KeyWeight] {
        [
            .block(
                "clients", 0.25,
                [
                    .key("trusted_proxies", 1, of: ["[127.0.0.1, unix]"]),
                    .key("allow", 0.3, of: ["[198.51.100.0/24, 127.0.0.0/8, unix]"]),
                    .key("deny", 0.7, of: [#"[198.51.100.64/26, "2001:db8::/32"]"#]),
                ]),
            .key(
                "hosts", 0.2,
                of: [
                    "[\(Self.host)]", "[\(Self.host), \"::1\"]", "[192.0.2.1, \(Self.host)]",
                    "[\"*.test\"]",
                ]),
            .block("user_agents", 0.15, [.key("deny", 1, of: [#"[".*-bot/.*"]"#])]),
            .key("security_headers", 0.4),
            .key("response_headers", 0.3, of: [#"{"X-Fixed": all}"#]),
            .block("defaults", 1, [.block("cors", 0.3, cors(0))]),
        ]
    }

    func endpoint(_ index: Int) -> [KeyWeight] {
        let random = random.derived("endpoint", index)
        return [
            .block("clients", 0.1, [.key("deny", 1, of: ["[203.0.113.0/24]"])]),
            .key("response_headers", 0.15, of: [#"{"X-Fixed": e\#(index)}"#]),
            .key(
                "hosts", 0.15,
                of: [
                    "[\(Self.host), \"*.test\"]", "[\"*.test\"]", "[\(Self.host)]",
                    "[other.test, \"::1\"]",
                ]),
            random.chance(0.5)
                ? .key("cors", 0.2, of: ["none"]) : .block("cors", 0.2, cors(index + 1)),
        ]
    }

    private func cors(_ number: Int) -> [KeyWeight] {
        let random = random.derived("cors", number)
        let isOpen = random.chance(0.3)
        return [
            .key(
                "origins", 1,
                of: isOpen
                    ? [#"["*"]"#]
                    : [
                        #"["https://shop.test"]"#,
                        #"["https://shop.test", "https://*.shop.test"]"#,
                    ]),
            .key("headers", 0.5, of: ["[Content-Type, X-User]"]),
            .key("expose", 0.3, of: ["[ETag]"]), .key("credentials", isOpen ? 0 : 0.4),
            .key("max_age", 1, of: ["0s", "1s", "600s"]),
        ]
    }

    /// Adds what a browser and a proxy would.
    ///
    /// - Parameter asPreflight: whether it may become a preflight
    func complete(_ request: inout ScriptedRequest, asPreflight: Bool = true) {
        guard request.defect == nil else { return }
        if random.chance(0.1) {
            request.host = random.pick([
                "GATEWAY.test:80", "other.test", "gateway.test.", "[::1]:80", "a.gateway.test",
            ])
        }
        if random.chance(0.3) {
            request.headers.append(("X-Forwarded-For", random.pick(Self.addresses)))
        }
        guard random.chance(0.4) else { return }
        request.headers.append(("Origin", random.pick(Self.origins)))
        guard asPreflight, random.chance(0.3) else { return }
        request.headers.append(
            (
                "Access-Control-Request-Method",
                random.pick([request.method, request.method, "GET", "PATCH"])
            ))
        request.method = "OPTIONS"
        request.body = nil
        request.isChunked = false
        request.expectsContinue = false
    }
}
