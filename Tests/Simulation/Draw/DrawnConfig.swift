import Rehearsal

/// A drawn configuration: what its text is made of, and what the models read; the gateway gets only the text.
/// All times are in milliseconds.
struct DrawnConfig {
    /// Counts the configurations of a run; part of every call's path.
    var generation: Int
    /// The keys of the file, but not its lists.
    var keys: Tree
    /// Clients connect to a unix socket.
    var listensOnUnixSocket = false
    /// The first listener has `protocols: [http2, http1]`.
    var acceptsHTTP2 = false
    /// Behind the first one.
    var listeners: [DrawnListener] = []
    var rateLimits: [DrawnRateLimit] = []
    /// Nil without authenticators.
    var auth: DrawnAuth?
    var backends: [DrawnBackend]
    /// Of endpoints with `proxy`.
    var streamBackends: [DrawnBackend] = []
    var endpoints: [DrawnEndpoint]

    var workers: Int { keys[number: "workers"] ?? 1 }
    var drainTimeout: Int { keys["drain"]?[number: "timeout"] ?? 0 }

    /// `auth_failures`; nil without a limit. The burst is the number of the rate.
    var authFailureRate: DrawnRate? {
        let text = keys[text: "auth_failures"] ?? "100/m"
        return text == "off" ? nil : DrawnRate(text)
    }

    var limits: DrawnLimits {
        get { DrawnLimits(keys: keys["limits"] ?? .block) }
        set { keys.set("limits", newValue.keys) }
    }

    /// One worker's share of a number for the whole process.
    func share(_ count: Int) -> Int { max(1, (count + workers - 1) / workers) }

    var checksHosts: Bool { backends.contains { $0.health != nil } }

    /// The text of the file.
    var text: String {
        var tree = Tree.members(["version": .scalar("1")])
        tree.set("listen", listen)
        tree = .object(tree.members + keys.members)
        if auth == nil { tree.set("auth_failures", nil) }
        if let auth {
            tree.set("auth", auth.tree)
            tree.set(
                "defaults",
                (tree["defaults"] ?? .block)
                    .setting("auth", .scalar(auth.authenticators[0].kind.rawValue)))
        }
        if !rateLimits.isEmpty {
            tree.set("rate_limits", .named(rateLimits) { ($0.name, $0.keys) })
        }
        tree.set("backends", .named(backends + streamBackends) { ($0.name, $0.tree) })
        tree.set("endpoints", .array(endpointsInOrder.flatMap { $0.trees(in: self) }))
        return String(tree.yaml().drop(while: \.isWhitespace))
    }

    /// One entry without a name, or several, which endpoints name.
    private var listen: Tree {
        let address = Tree.scalar(
            listensOnUnixSocket ? "\"unix:/run/tributary.sock\"" : "127.0.0.1:8080")
        if listeners.isEmpty, !acceptsHTTP2 { return address }
        let first = Tree.members(["address": address])
            .setting("protocols", acceptsHTTP2 ? .list(["http2", "http1"]) : nil)
        if listeners.isEmpty { return first }
        return .array(
            ([first] + listeners.map(\.tree)).enumerated().map { index, tree in
                tree.setting(
                    "name", .scalar(Self.listenerName(index == 0 ? nil : index - 1)))
            })
    }

    /// The names of the listeners that serve endpoints; empty if there is only one.
    var servingListeners: [String] {
        let others = listeners.indices.filter { !listeners[$0].redirects }
        return listeners.isEmpty
            ? [] : [Self.listenerName(nil)] + others.map { Self.listenerName($0) }
    }
}

extension Tree {
    static func named<Item>(_ items: [Item], _ member: (Item) -> (String, Tree)) -> Tree {
        .object(items.map(member).map { Member(key: $0.0, value: $0.1) })
    }
}

/// `limits:`
struct DrawnLimits {
    var keys: Tree

    /// As high as if it was not written. The default depends on the machine.
    fileprivate static let manyConnections = 10_000
    static let none = DrawnLimits(
        keys: .members(["connections": .scalar("\(manyConnections)")]))

    var requestsInFlight: Int? { keys[number: "requests_in_flight"] }
    var streams: Int? { keys[number: "streams"] }
    var streamsPerConnection: Int? { keys[number: "streams_per_connection"] }
    var headerBytes: Int? { keys[number: "header_bytes"] }
    var headerCount: Int? { keys[number: "header_count"] }
    var headerTimeout: Int? { keys[number: "header_timeout"] }
    var bodyTimeout: Int? { keys[number: "body_timeout"] }
    var writeTimeout: Int? { keys[number: "write_timeout"] }
    var bufferedBytes: Int? { keys[number: "buffered_bytes"] }

    /// Whether a new connection may be refused.
    var limitsConnections: Bool {
        keys[number: "connections"] != Self.manyConnections
            || keys["connections_per_client"] != nil
    }

    /// With client timeouts of at most one second, where none are set.
    var withShortTimeouts: DrawnLimits {
        var limits = self
        for key in ["header_timeout", "body_timeout", "idle_timeout"] where keys[key] == nil {
            limits.keys.set(key, .scalar("1000ms"))
        }
        return limits
    }

    static func weights(hasStreams: Bool, hasHTTP2: Bool) -> [KeyWeight] {
        [
            .key("connections", 1, Array(repeating: manyConnections, count: 34) + (1...6)),
            .key("connections_per_client", 0.1, 1...6),
            .key("requests_in_flight", 0.15, 1...6),
            .key("streams", hasStreams ? 0.15 : 0, 1...3),
            .key("streams_per_connection", hasHTTP2 ? 0.15 : 0, 1...4),
            .key("header_bytes", 0.1, [1024]), .key("header_count", 0.1, [12]),
            .key("uri_bytes", 0.1, [256]), .key("header_timeout", 0.3, 50...400),
            .key("body_timeout", 0.3, 50...400), .key("write_timeout", 0.1, 100...2000),
            .key("idle_timeout", 0.3, 20...500),
            .key("buffered_bytes", 0.1, [1000, 4000, 20_000, 200_000]),
        ]
    }
}
