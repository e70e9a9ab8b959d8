import Rehearsal
import SimReactor

/// A backend: of calls, or of endpoints with `proxy`, whose permits are held until the last byte of a response.
struct DrawnBackend {
    var name: String
    var hosts: [DrawnHost]
    var keys: Tree
    /// The share of connections that the first host refuses.
    var refusedShare = 0.0

    var header: String? { keys["headers"]?[text: "X-Backend"] }
    var connectTimeout: Int { keys[number: "connect_timeout"] ?? 0 }
    var maxConcurrent: Int? { keys[number: "max_concurrent"] }
    var breaker: DrawnBreaker? { keys["breaker"].map(DrawnBreaker.init) }
    var eject: (after: Int, duration: Int)? {
        keys["eject"].map { ($0[number: "after"] ?? 0, $0[number: "for"] ?? 0) }
    }
    var health: DrawnHealth? { keys["health"].map(DrawnHealth.init) }
    /// Set if the URLs have `https://`.
    var tls: DrawnTLS? { keys["tls"].map(DrawnTLS.init) }
    /// Set with `protocol: http2`.
    var http2: Tree? { keys["http2"] }

    var ports: [UInt16] { hosts.map(\.port) }
    var prefix: String { hosts[0].prefix }

    var tree: Tree {
        let scheme = tls == nil ? "http" : "https"
        let urls = hosts.map { Tree.text("\(scheme)://\($0.host):\($0.port)\($0.prefix)") }
        let url = urls.count == 1 ? ("url", urls[0]) : ("urls", .array(urls))
        return .object([Tree.Member(key: url.0, value: url.1)] + keys.members)
    }
}

/// `health:` of a backend.
struct DrawnHealth {
    let keys: Tree

    var every: Int { keys[number: "every"] ?? 0 }
    /// Contains the generation, so that checks of a replaced configuration can be recognised.
    var path: String { keys[text: "path"] ?? "" }

    static func generation(of segment: Substring) -> Int? {
        segment.hasPrefix("health") ? Int(segment.dropFirst(6)) : nil
    }
}

struct DrawnBreaker {
    let keys: Tree
}

/// A host of a backend: a name or an address, a port, and the prefix of its URL.
struct DrawnHost: Equatable {
    var host: String
    var port: UInt16
    var prefix: String

    var isName: Bool { host.hasSuffix(".test") }
}

/// Draws backends.
struct BackendDraw {
    let random: RandomSource
    let generation: Int

    /// A backend of calls.
    ///
    /// - Parameter former: the backend that a reload replaces, whose hosts and protocols stay the same
    func backend(_ index: Int, hasHTTP2: Bool, after former: DrawnBackend?) -> DrawnBackend {
        let random = random.derived("backend", index)
        let hosts = former?.hosts ?? hosts(index, random)
        var keys = random.keys(
            [
                .key("headers", 0.3, of: [#"{"X-Backend": "key \#(generation)"}"#]),
                .key("connect_timeout", 1, [30, 60, 150, 1000]),
                .key("balance", hosts.count > 1 ? 0.5 : 0), .key("dns_ttl", 0.4, 0...200),
                .block(
                    "breaker", 0.3,
                    [
                        .key("open_at", 1, [10, 50, 100]), .key("min_requests", 1, 1...5),
                        .key("window", 1, [200, 1000, 10_000]),
                        .key("try_again_after", 1, 20...500),
                    ]),
                .block(
                    "eject", hosts.count > 1 ? 0.6 : 0,
                    [.key("after", 1, 1...4), .key("for", 1, 20...400)]),
                .block(
                    "health", 0.3,
                    [
                        .key("path", 1, of: ["/health\(generation)"]),
                        .key("every", 1, [40, 40, 100, 300]),
                    ]),
            ] + Self.limits(waitMax: 120), of: "Backend")
        keys = Self.withoutIdleQueue(keys)
        if former.map({ $0.tls != nil }) ?? random.derived("tls").chance(0.3) {
            keys.set("tls", random.keys(Self.tls(random), of: "TLS"))
        }
        if former.map({ $0.http2 != nil }) ?? (hasHTTP2 && random.derived("http2").chance(0.75)) {
            keys.set("protocol", .scalar("http2"))
            keys.set("http2", random.keys(Self.http2, of: "HTTP2"))
        }
        return DrawnBackend(name: "b\(index)", hosts: hosts, keys: keys)
    }

    /// A backend of endpoints with `proxy`.
    func streamBackend(_ index: Int, after former: DrawnBackend?) -> DrawnBackend {
        let random = random.derived("backend", index)
        let prefix = random.chance(0.2) ? "/api" : ""
        let hosts = (0..<random.pick([1, 1, 2])).map {
            DrawnHost(host: "127.0.0.1", port: UInt16(7800 + 10 * index + $0), prefix: prefix)
        }
        let refusedShare = random.chance(0.2) ? random.pick([0.2, 0.5, 1]) : 0
        let keys = random.keys(
            [
                .key("connect_timeout", 1, [60, 150, 1000]),
                .block(
                    "breaker", 0.25,
                    [
                        .key("open_at", 1, [50, 100]), .key("min_requests", 1, 1...4),
                        .key("window", 1, [1000, 10_000]), .key("try_again_after", 1, 20...500),
                    ]),
            ] + Self.limits(waitMax: 400), of: "Backend")
        return DrawnBackend(
            name: "s\(index)", hosts: former?.hosts ?? hosts, keys: Self.withoutIdleQueue(keys),
            refusedShare: former?.refusedShare ?? refusedShare)
    }

    private static func limits(waitMax: Int) -> [KeyWeight] {
        [
            .key("max_concurrent", 0.35, 1...4),
            .block("queue", 0.6, [.key("size", 1, 1...5), .key("wait", 1, 5...waitMax)]),
            .block(
                "keepalive", 0.3, [.key("max_idle", 1, 0...3), .key("idle_timeout", 1, 5...300)]),
        ]
    }

    /// A queue waits for the permits of `max_concurrent`.
    private static func withoutIdleQueue(_ keys: Tree) -> Tree {
        keys["max_concurrent"] == nil ? keys.setting("queue", nil) : keys
    }

    /// A reload may change the verification.
    private static func tls(_ random: RandomSource) -> [KeyWeight] {
        [
            random.chance(0.5)
                ? .key("ca", 1, of: [DrawnTLS.authorityFile]) : .key("verify", 1, of: ["false"]),
            .key("server_name", 0.3, of: [DrawnTLS.alias]),
        ]
    }

    /// The `ping_timeout` is longer than any packet takes, unless the network stalls or takes few bytes at once.
    private static let http2: [KeyWeight] = [
        .key("max_streams", 0.4, [1, 2, 3, 10]), .key("max_connections", 0.4, 1...3),
        .key("ping_after", 0.6, 20...400), .key("ping_timeout", 1, 50...300),
    ]

    private func hosts(_ index: Int, _ random: RandomSource) -> [DrawnHost] {
        (0..<random.pick([1, 1, 2, 3])).map { host in
            DrawnHost(
                host: random.chance(0.3) ? "h\(host)b\(index).test" : "127.0.0.1",
                port: UInt16(7000 + 10 * index + host),
                prefix: random.chance(0.15) ? "/api/v1" : "")
        }
    }
}
