import Rehearsal

/// The drawn rules for requests before their endpoint is known, and the headers of all responses.
struct DrawnEntry {
    /// Nil if the configuration has no `clients`.
    var clients: DrawnClients?
    /// `hosts:`; empty for all.
    var hosts: [String] = []
    /// `user_agents` denies bots.
    var deniesAgents = false
    /// `security_headers:`; nil means `nosniff`.
    var securityHeaders: String?
    /// Of all responses, in this order.
    var headers: [DrawnHeader] = []
    /// `defaults.cors`.
    var cors: DrawnCORS?
}

/// `clients:`, with the simulated clients as trusted proxies: an address in `X-Forwarded-For` counts.
struct DrawnClients {
    var allow: [String] = []
    var deny: [String] = []
}

struct DrawnHeader: Equatable {
    var name: String
    var value: String
}

/// The drawn rules of one endpoint.
struct DrawnEndpointEntry {
    var deny: [String] = []
    var headers: [DrawnHeader] = []
    var cors = CORS.inherited

    enum CORS {
        case inherited, none
        case own(DrawnCORS)
    }
}

struct DrawnCORS: Equatable {
    /// Distinguishes blocks with the same contents: methods of a path with the same block are listed.
    var number: Int
    var origins: [String]
    var headers: [String]
    var expose: [String]
    var hasCredentials: Bool
    var maxAge: Int
}

/// Draws them, and what requests have for them.
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

    func entry() -> DrawnEntry {
        var entry = DrawnEntry()
        entry.clients = random.maybe(
            0.25,
            DrawnClients(
                allow: random.maybe(0.3, ["198.51.100.0/24", "127.0.0.0/8", "unix"]) ?? [],
                deny: random.maybe(0.7, ["198.51.100.64/26", "\"2001:db8::/32\""]) ?? []))
        entry.hosts =
            random.maybe(
                0.2, random.pick([[Self.host], [Self.host, "\"::1\""], ["192.0.2.1", Self.host]]))
            ?? []
        entry.deniesAgents = random.derived("agents").chance(0.15)
        entry.securityHeaders = random.maybe(0.4, random.pick(["none", "nosniff", "api"]))
        entry.headers = random.maybe(0.3, [DrawnHeader(name: "X-Fixed", value: "all")]) ?? []
        entry.cors = random.maybe(0.3, cors(0))
        return entry
    }

    func endpoint(_ index: Int) -> DrawnEndpointEntry {
        let random = random.derived("endpoint", index)
        var entry = DrawnEndpointEntry()
        entry.deny = random.maybe(0.1, ["203.0.113.0/24"]) ?? []
        entry.headers = random.maybe(0.15, [DrawnHeader(name: "X-Fixed", value: "e\(index)")]) ?? []
        switch random.number(0...9) {
        case 0: entry.cors = .none
        case 1: entry.cors = .own(cors(index + 1))
        default: break
        }
        return entry
    }

    private func cors(_ number: Int) -> DrawnCORS {
        let random = random.derived("cors", number)
        let isOpen = random.chance(0.3)
        return DrawnCORS(
            number: number,
            origins: isOpen
                ? ["*"]
                : random.pick([
                    ["https://shop.test"], ["https://shop.test", "https://*.shop.test"],
                ]),
            headers: random.maybe(0.5, ["Content-Type", "X-User"]) ?? [],
            expose: random.maybe(0.3, ["ETag"]) ?? [],
            hasCredentials: !isOpen && random.chance(0.4), maxAge: random.pick([0, 1, 600]))
    }

    /// Adds what a browser and a proxy would.
    ///
    /// - Parameter asPreflight: whether it may become a preflight
    func complete(_ request: inout ScriptedRequest, asPreflight: Bool = true) {
        guard request.defect == nil else { return }
        if random.chance(0.1) {
            request.host = random.pick([
                "GATEWAY.test:80", "other.test", "gateway.test.", "[::1]:80",
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
