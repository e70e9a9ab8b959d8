import YAMLReader

/// The top level: what holds for the whole process, then the endpoints.
struct KrakenDService {
    private let root: DocumentNode
    private var backends: KrakenDBackends
    var problems: Problems

    init(_ root: DocumentNode, _ problems: Problems) {
        self.root = root
        self.problems = problems
        backends = KrakenDBackends(root)
    }

    mutating func converted() -> YAMLTree {
        tellWhatIsLost()
        var members: [(String, YAMLTree)] = [
            ("version", .plain("1")), ("listen", .text(listen)),
            // Where KrakenD has /__health and its metrics.
            ("admin", .text("127.0.0.1:9901")),
        ]
        if let log { members.append(("log", log)) }
        if let limits { members.append(("limits", limits)) }
        members.append(("defaults", defaults))
        let endpoints = (root["endpoints"]?.elements ?? []).compactMap { endpoint($0) }
        members.append(("backends", backends.tree))
        members.append(("endpoints", .list(endpoints)))
        return .block(members)
    }

    private mutating func endpoint(_ node: DocumentNode) -> YAMLTree? {
        var endpoint = KrakenDEndpoint(
            node, timeout: timeout, cacheFor: root["cache_ttl"]?.goDuration, backends, problems)
        let tree = endpoint.converted()
        backends = endpoint.backends
        problems = endpoint.problems
        return tree
    }

    // MARK: Process

    private var listen: String {
        let port = root["port"]?.integer ?? 8080
        return unwrapped(root["listen_ip"]?.text ?? "0.0.0.0") + ":\(port)"
    }

    private func unwrapped(_ host: String) -> String { host.contains(":") ? "[\(host)]" : host }

    /// KrakenD's default.
    private var timeout: Duration { root["timeout"]?.goDuration ?? .seconds(2) }

    /// A call may take as long as its request: KrakenD has one limit for both.
    private var defaults: YAMLTree {
        var members: [(String, YAMLTree)] = [
            ("deadline", .text(timeout.spelled)), ("timeout", .text(timeout.spelled)),
        ]
        if let connect = root["dialer_timeout"]?.goDuration {
            members.append(("connect_timeout", .text(connect.spelled)))
        }
        if let size = root["extra_config"]?["router"]?["max_payload"]?.integer, size > 0 {
            members.append(("max_body", .text(Quantity.spelled(bytes: size))))
        }
        return .inline(members)
    }

    private var log: YAMLTree? {
        var members: [(String, YAMLTree)] = []
        let logging = root["extra_config"]?["telemetry/logging"]
        let levels = [
            "DEBUG": "debug", "INFO": "info", "WARNING": "warning", "ERROR": "error",
            "CRITICAL": "error",
        ]
        if let level = logging?["level"]?.text.flatMap({ levels[$0.uppercased()] }) {
            members.append(("level", .text(level)))
        }
        if root["extra_config"]?["router"]?["disable_access_log"]?.flag == true {
            members.append(("access", .plain("false")))
        }
        return members.isEmpty ? nil : .inline(members)
    }

    private var limits: YAMLTree? {
        var members: [(String, YAMLTree)] = []
        if let size = root["max_header_bytes"]?.integer, size > 0 {
            members.append(("header_bytes", .text(Quantity.spelled(bytes: size))))
        }
        let times = [
            ("read_header_timeout", "header_timeout"), ("read_timeout", "body_timeout"),
            ("idle_timeout", "idle_timeout"),
        ]
        for (theirs, ours) in times {
            guard let duration = root[theirs]?.goDuration else { continue }
            members.append((ours, .text(duration.spelled)))
        }
        return members.isEmpty ? nil : .inline(members)
    }

    // MARK: Losses

    private mutating func tellWhatIsLost() {
        for member in root.members where !Self.known.contains(member.key) {
            problems.lost(member, among: KrakenDReasons.ofService)
        }
        if let tls = root["client_tls"] { KrakenDTLS(tls).tellWhatIsLost(&problems) }
        for member in root["extra_config"]?.members ?? [] {
            if member.key == "telemetry/logging" { continue }
            guard member.key == "router" else {
                problems.lost(member, among: KrakenDReasons.ofExtras)
                continue
            }
            for inner in member.node.members
            where !["max_payload", "disable_access_log"].contains(inner.key) {
                problems.lost(inner, among: KrakenDReasons.ofRouter)
            }
        }
    }

    private static let known: Set<String> = [
        "$schema", "version", "name", "port", "listen_ip", "host", "timeout", "cache_ttl",
        "dialer_timeout", "max_header_bytes", "read_header_timeout", "read_timeout", "idle_timeout",
        "dns_cache_ttl", "max_idle_connections_per_host", "idle_connection_timeout", "endpoints",
        "extra_config", "client_tls",
    ]
}

extension Problems {
    /// Tells of a key that has no equivalent, with the reason.
    mutating func lost(_ member: DocumentNode.Member, among reasons: [String: String]) {
        // KrakenD's own way to comment.
        guard let first = member.key.first, !"@_$".contains(first) else { return }
        let reason = reasons[member.key] ?? KrakenDReasons.general(member.key)
        warning(at: member.keyPlace, "'\(member.key)' is left out: \(reason)")
    }
}
