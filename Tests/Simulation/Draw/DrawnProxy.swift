import Rehearsal

/// `proxy:` of an endpoint. All times are in milliseconds.
struct DrawnProxy {
    /// Index among `streamBackends`.
    var backend: Int
    /// The route ends with `*`.
    var hasRest: Bool
    /// Another endpoint protects the paths below `/safe` of this one, whose route has a `*`.
    var hasProtectedFolder = false
    /// `paths:` of the endpoint; nil if it is not written.
    var paths: Paths?
    /// The keys that do not depend on other parts of the configuration.
    var keys: Tree

    enum Paths: String { case strict, lenient }
    enum Forwarded: String { case x, rfc7239, both, off }

    /// The path at the backend, with a `*` where the route has one; nil for the client's.
    var path: String? { keys[text: "path"] }
    var timeout: Int { keys[number: "timeout"] ?? 0 }
    var idleTimeout: Int { keys[number: "idle_timeout"] ?? 0 }
    var maxDuration: Int? { keys[number: "max_duration"] }
    var maxBody: Int? { keys[number: "max_body"] }
    var host: String? { keys[text: "host"] }
    var forwarded: Forwarded? { keys[text: "forwarded"].flatMap(Forwarded.init(rawValue:)) }
    var passesCredential: Bool { keys["credential"] != nil }
    var interim: String? { keys[text: "interim"] }
    var headers: [PeerField] {
        (keys["headers"]?.members ?? []).map { ($0.key, $0.value.plain) }
    }
    var dropHeaders: [String] { keys[texts: "drop_headers"] }
    var retry: DrawnRetry? { keys["retry"].map(DrawnRetry.init) }
    var upgrades: Bool { keys["upgrade"] != nil }
    /// `location`, `cookies`
    var rewrite: [String] { keys[texts: "rewrite"] }

    /// Whether paths are refused that servers read in different ways.
    var refusesUnusualPaths: Bool {
        (paths ?? (hasProtectedFolder ? .strict : .lenient)) == .strict
    }

    /// What its paths at the backend begin with, with a slash at the end: `/api/v2/`.
    func folder(of endpoint: DrawnEndpoint, _ config: DrawnConfig) -> String {
        let path = self.path.map { $0.hasSuffix("*") ? String($0.dropLast()) : $0 + "/" }
        return config.streamBackends[backend].prefix + (path ?? endpoint.path + "/")
    }

    func tree(of endpoint: DrawnEndpoint, _ config: DrawnConfig) -> Tree {
        var tree = Tree.members(["to": .scalar(config.streamBackends[backend].name)])
        tree = .object(tree.members + keys.members)
        if !endpoint.isProtected { tree.set("credential", nil) }
        let attempt = Tree.members(["X-Proxy": .scalar("g\(config.generation)e\(endpoint.index)")])
        let caller = endpoint.isProtected ? Tree.callerHeader : .block
        tree.set(
            "headers",
            .object(attempt.members + caller.members + (keys["headers"]?.members ?? [])))
        return tree
    }
}
