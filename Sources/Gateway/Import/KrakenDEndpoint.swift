import Basics
import YAMLReader

/// One endpoint with its backends, which become its calls.
struct KrakenDEndpoint {
    private let node: DocumentNode
    private let commonTimeout: Duration
    private let commonCacheTime: Duration?
    private(set) var backends: KrakenDBackends
    private(set) var problems: Problems

    /// - Parameter timeout: of the top level
    init(
        _ node: DocumentNode, timeout: Duration, cacheFor cacheTime: Duration?,
        _ backends: KrakenDBackends, _ problems: Problems
    ) {
        self.node = node
        self.backends = backends
        self.problems = problems
        commonTimeout = timeout
        commonCacheTime = cacheTime
    }

    private var path: String { node["endpoint"]?.text ?? "" }
    private var method: String { node["method"]?.text?.uppercased() ?? "GET" }
    private var timeout: Duration { node["timeout"]?.goDuration ?? commonTimeout }
    private var extras: [DocumentNode.Member] { node["extra_config"]?.members ?? [] }
    private var proxy: DocumentNode? { node["extra_config"]?["proxy"] }

    /// Nil if nothing of it can be said.
    mutating func converted() -> YAMLTree? {
        let route: Config.Route
        do throws(Refusal) {
            if path.hasSuffix("*") {
                throw Refusal("has a wildcard; every segment has to be named")
            }
            route = try Config.Route(reading: "\(method) \(ourPath)")
        } catch {
            problems.warning(
                at: node["endpoint"]?.place ?? node.place,
                "endpoint \(method) \(path) is left out: its route \(error.words)")
            return nil
        }
        tellWhatIsLost()
        let calls = calls(of: route)
        guard !calls.isEmpty else {
            problems.warning(
                at: node.place, "endpoint \(method) \(path) is left out: it has no call")
            return nil
        }
        return .block(members(route, calls))
    }

    private mutating func members(
        _ route: Config.Route, _ calls: [(String, YAMLTree)]
    ) -> [(String, YAMLTree)] {
        var members: [(String, YAMLTree)] = [("route", .text(route.name))]
        if let forward = forward(node) { members.append(("forward", forward)) }
        if let body = body() { members.append(("body", body)) }
        if timeout != commonTimeout { members.append(("deadline", .text(timeout.spelled))) }
        if timeout > commonTimeout { members.append(("timeout", .text(timeout.spelled))) }
        let cacheTime = node["cache_ttl"].map(\.goDuration) ?? commonCacheTime
        if let time = cacheTime, method == "GET" {
            let seconds = max(1, time.inNanoseconds / 1_000_000_000)
            members.append(("cache_control", .text("public, max-age=\(seconds)")))
        }
        return members + [("calls", .block(calls))]
    }

    /// `/a/:id` is an older way to write `/a/{id}`.
    private var ourPath: String {
        path.split(separator: "/", omittingEmptySubsequences: false)
            .map { $0.hasPrefix(":") ? "{\($0.dropFirst())}" : String($0) }
            .joined(separator: "/")
    }

    // MARK: Request

    /// What goes along; nil if nothing does.
    private mutating func forward(_ node: DocumentNode) -> YAMLTree? {
        var members: [(String, YAMLTree)] = []
        if let headers = node["input_headers"] {
            let names = listed(headers).filter { isForwardable($0, headers.place) }
            if !names.isEmpty { members.append(("headers", .texts(names))) }
        }
        if let query = node["input_query_strings"] {
            let names = listed(query)
            if !names.isEmpty { members.append(("query", .texts(names))) }
        }
        return members.isEmpty ? nil : .inline(members)
    }

    private mutating func listed(_ list: DocumentNode) -> [String] {
        guard list.texts.contains("*") else { return list.texts }
        problems.warning(
            at: list.place, "'*' is left out: only what is listed goes along; list the names")
        return list.texts.filter { $0 != "*" }
    }

    private mutating func isForwardable(_ name: String, _ place: Place) -> Bool {
        do throws(Refusal) {
            try HeaderSyntax.check(name: name)
            return true
        } catch {
            problems.warning(at: place, "'\(name)' is left out: 'forward' \(error.words)")
            return false
        }
    }

    private mutating func body() -> YAMLTree? {
        guard let member = extras.first(where: { $0.key == "validation/json-schema" }) else {
            return nil
        }
        guard ["POST", "PUT", "PATCH", "DELETE"].contains(method) else {
            problems.warning(
                at: member.keyPlace, "'\(member.key)' is left out: a \(method) has no body")
            return nil
        }
        var schema = KrakenDBodySchema(problems)
        let tree = schema.converted(member.node)
        problems = schema.problems
        return tree
    }

    // MARK: Calls

    private mutating func calls(of route: Config.Route) -> [(String, YAMLTree)] {
        let nodes = node["backend"]?.elements ?? []
        var names: [String] = []
        for node in nodes {
            names.append(
                KrakenDBackends.unique(
                    KrakenDCall.name(of: node), among: names + route.parameters))
        }
        let isSequential = proxy?["sequential"]?.flag == true
        let scope = KrakenDCall.Scope(
            route: route, names: names, nodes: nodes, isSequential: isSequential,
            hedge: hedge, fallbacks: fallbacks(names))
        var calls: [(String, YAMLTree)] = []
        for (index, node) in nodes.enumerated() {
            let forward = forward(node)
            var call = KrakenDCall(node, index, scope, backends, problems)
            let tree = call.converted(forward: forward)
            backends = call.backends
            problems = call.problems
            if let tree { calls.append((names[index], tree)) }
        }
        return calls
    }

    /// `concurrent_calls` asks several times at once; we ask again when the answer is late.
    private var hedge: (after: Duration, place: Place)? {
        guard let node = node["concurrent_calls"], let count = node.integer, count > 1 else {
            return nil
        }
        let quarter = Duration.milliseconds(max(1, timeout.inNanoseconds / 4_000_000))
        return (quarter, node.place)
    }

    /// Static data of a group stands for the call of that group where it fails.
    private mutating func fallbacks(_ names: [String]) -> [String: String] {
        guard let node = proxy?["static"] else { return [:] }
        let strategy = node["strategy"]?.text ?? "always"
        guard ["errored", "incomplete"].contains(strategy) else {
            problems.warning(
                at: node.place,
                "'static' with the strategy '\(strategy)' is left out: answers have what calls gave;"
                    + " 'if_failed' stands for a call that failed")
            return [:]
        }
        var fallbacks: [String: String] = [:]
        for member in node["data"]?.members ?? [] {
            if names.contains(member.key) {
                fallbacks[member.key] = member.node.json
            } else {
                problems.warning(
                    at: member.keyPlace,
                    "'\(member.key)' of 'static' is left out: there is no group of that name")
            }
        }
        return fallbacks
    }

    // MARK: Losses

    private mutating func tellWhatIsLost() {
        for member in node.members where !Self.known.contains(member.key) {
            problems.lost(member, among: KrakenDReasons.ofService)
        }
        if let encoding = node["output_encoding"]?.text,
            !["json", "fast-json", "negotiate"].contains(encoding)
        {
            problems.warning(
                at: node["output_encoding"]?.place ?? node.place,
                "'output_encoding: \(encoding)' is left out: answers are JSON objects")
        }
        for member in extras where !["proxy", "validation/json-schema"].contains(member.key) {
            problems.lost(member, among: KrakenDReasons.ofExtras)
        }
        for member in proxy?.members ?? []
        where !["sequential", "static", "sequential_propagated_params"].contains(member.key) {
            problems.lost(member, among: KrakenDReasons.ofProxy)
        }
        if let node = node["concurrent_calls"], let count = node.integer, count > 1 {
            problems.warning(
                at: node.place,
                "'concurrent_calls: \(count)' became a hedge: one more request, and only when the"
                    + " first is late; say with 'after' how late")
        }
    }

    private static let known: Set<String> = [
        "endpoint", "method", "timeout", "cache_ttl", "backend", "input_headers",
        "input_query_strings", "concurrent_calls", "output_encoding", "extra_config",
    ]
}
