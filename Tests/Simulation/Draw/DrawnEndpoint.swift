import Rehearsal

struct DrawnEndpoint {
    var index: Int
    var route: DrawnRoute
    var method: String
    var params: [DrawnParam] = []
    /// The keys that neither depend on other parts of the configuration nor are lists of blocks.
    var keys: Tree
    var limitUses: [DrawnLimitUse] = []
    /// Nil if the configuration has no authenticators.
    var auth: DrawnEndpointAuth?
    var calls: [DrawnCall] = []
    /// Instead of calls.
    var proxy: DrawnProxy?

    enum SucceedWhen: String { case any, all, required }
    enum Report: String { case body, header, off }

    static let anyMethod = "ANY"

    /// An object with the field `user`.
    var body: Tree? { keys["body"] }
    var forwardHeaders: [String] { keys["forward"]?[texts: "headers"] ?? [] }
    var forwardQuery: [String] { keys["forward"]?[texts: "query"] ?? [] }
    /// `query: all`, instead of names.
    var forwardsAllQuery: Bool { keys["forward"]?[text: "query"] == "all" }
    var deadline: Int { keys[number: "deadline"] ?? 0 }
    var timeout: Int { keys[number: "timeout"] ?? 0 }
    var minDuration: Int? { keys[number: "min_duration"] }
    var roundUpTo: Int? { keys[number: "round_up_to"] }
    var succeedWhen: SucceedWhen? {
        keys[text: "succeed_when"].flatMap(SucceedWhen.init(rawValue:))
    }
    /// With `respond.root`, the body has no place for the report.
    var report: Report? {
        let report = keys[text: "report"].flatMap(Report.init(rawValue:))
        return respond?["root"] != nil && report ?? .body == .body ? .header : report
    }
    var respond: Tree? { keys["respond"] }
    var partialStatus: Int? { keys[number: "partial_status"] }
    var cacheControl: String? { keys[text: "cache_control"] }
    var serverTiming: Bool { keys["server_timing"] != nil }
    var maxInFlight: Int? { keys[number: "max_in_flight"] }
    var maxBody: Int { keys[number: "max_body"] ?? 0 }
    var entry: DrawnEndpointEntry { DrawnEndpointEntry(index: index, keys: keys) }
    var input: DrawnInput { DrawnInput(keys: keys) }

    /// Whether it is the main endpoint of its path.
    var isMain: Bool { index == route.main }

    /// Its path, without the last segment.
    var path: String { "/e\(route.main)" }

    /// Its route, without the method.
    var routePath: String {
        if let proxy { return proxy.hasRest ? "\(path)/*" : path }
        return switch route.ending {
        case .usual: path + (hasID ? "/{id}" : "")
        case .suffix: "\(path)/{id}\(DrawnRoute.suffix)"
        case .literal: "\(path)/\(DrawnRoute.literal)"
        }
    }

    var hasID: Bool { params.contains { $0.name == "id" } }

    var isProtected: Bool { auth.map { !$0.kinds.isEmpty } ?? false }

    /// Whether the route has the method, or `ANY`.
    func accepts(_ method: String) -> Bool {
        method == self.method || method == "HEAD" && self.method == "GET"
            || self.method == Self.anyMethod && method != "CONNECT" && method != "TRACE"
    }

    /// `query: all` forwards every parameter, so none is unknown.
    var refusesUnknownQuery: Bool { keys["unknown_query"] != nil && !forwardsUnknownQuery }

    private var forwardsUnknownQuery: Bool {
        forwardsAllQuery && calls.contains { $0.forwardHeaders == nil }
    }

    /// The query parameters that are declared, forwarded, or used by a condition.
    var knownQuery: [String] {
        params.filter { $0.isDeclared && !$0.isHeader && $0.name != "id" }.map(\.name)
            + (calls.contains { $0.forwardHeaders == nil } ? forwardQuery : [])
            + calls.compactMap(\.when).flatMap(\.queryNames)
            + (calls.contains(where: \.hasList) ? [DrawnUse.list] : [])
            + (auth?.requirements ?? []).flatMap(\.queryNames)
            + limitUses.compactMap(\.when).flatMap(\.queryNames)
    }

    /// Calls whose failure fails the request.
    var requiredCalls: [DrawnCall] {
        calls.filter { $0.isRequired || succeedWhen == .all }
    }

    // MARK: Text

    /// Its block, and another one if it has a protected folder.
    func trees(in config: DrawnConfig) -> [Tree] {
        var tree = Tree.members(["route": .scalar("\(method) \(routePath)")])
            .setting("listener", route.listener.map { .scalar($0) })
            .setting("when", route.when?.tree)
        let declared = params.filter(\.isDeclared)
        if !declared.isEmpty { tree.set("params", .named(declared) { ($0.name, $0.keys) }) }
        tree = .object(tree.members + keys.members)
        if forwardsUnknownQuery { tree.set("unknown_query", nil) }
        if !limitUses.isEmpty {
            tree.set("rate_limits", .array(limitUses.map { $0.tree(config.rateLimits) }))
        }
        if let auth { tree.set("auth", auth.tree) }
        guard let proxy else {
            return [tree.setting("calls", .named(calls) { ($0.name, $0.tree(of: self, config)) })]
        }
        tree.set("proxy", proxy.tree(of: self, config))
        return [tree] + (isMain && proxy.hasProtectedFolder ? [protectedFolder(config)] : [])
    }

    /// An endpoint that no client may use: its paths in every spelling belong to it.
    private func protectedFolder(_ config: DrawnConfig) -> Tree {
        Tree.members([
            "route": .scalar("ANY \(path)/safe/*"),
            "clients": .members(["allow": .list(["192.0.2.1"])]),
            "proxy": .scalar(config.streamBackends[proxy?.backend ?? 0].name),
        ]).setting("auth", config.auth == nil ? nil : .scalar("none"))
            .setting("hosts", keys["hosts"])
    }
}

/// One of the four parameters that drawn endpoints may have.
struct DrawnParam {
    var name: String
    var keys: Tree

    var isDeclared: Bool { keys != .block }
    /// From 1 to 999; otherwise a string.
    var isInteger: Bool { keys[text: "type"] == "integer" }
    var oneOf: [String] { keys[texts: "one_of"] }
    var fallback: String? { keys[text: "default"] }
    var isRequired: Bool { keys["required"] != nil }
    var maxLength: Int? { keys[number: "max_length"] }
    var isHeader: Bool { keys["in"] != nil }
}

/// The entry rules and response headers of one endpoint.
struct DrawnEndpointEntry {
    let index: Int
    let keys: Tree

    enum CORS {
        case inherited, none
        case own(DrawnCORS)
    }

    /// Empty for all.
    var hosts: [String] { keys[networks: "hosts"] }
    var deny: [String] { keys["clients"]?[networks: "deny"] ?? [] }
    var headers: [PeerField] { keys.responseHeaders }
    var cors: CORS {
        switch keys["cors"] {
        case nil: .inherited
        case .scalar?: .none
        case let cors?: .own(DrawnCORS(number: index + 1, keys: cors))
        }
    }
}

/// What the requests of an endpoint must not have, and the header of all its calls.
struct DrawnInput {
    let keys: Tree

    var contentTypes: [String] { keys[texts: "content_types"] }
    /// Of a declared body.
    var refusesUnknownFields: Bool { keys["body"]?["unknown_fields"] != nil }

    /// The value of `X-Shared` in `headers`.
    var sharedHeader: SharedHeader? {
        keys["headers"]?[text: "X-Shared"].map {
            $0.hasPrefix("{") ? .header("X-User") : .constant($0)
        }
    }

    enum SharedHeader: Equatable {
        case constant(String)
        /// `{request.header.X-User?}`
        case header(String)
    }
}
