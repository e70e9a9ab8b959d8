import Gateway
import YAMLReader

/// Converts the top level: the settings of the process, then the endpoints.
struct KrakenDService {
    private let root: DocumentNode
    private let opensProtected: Bool

    init(_ root: DocumentNode, opensProtected: Bool) {
        self.root = root
        self.opensProtected = opensProtected
    }

    func converted() -> ImportedDocument {
        var findings = ImportFindings()
        var backends = KrakenDBackends(root)
        let auth = KrakenDAuth(root, &backends)
        reportLosses(auth, &findings)
        var members: [(String, YAMLTree)] = [
            ("version", .plain("1")), ("listen", located(listen.tree, "port")),
            // Replaces KrakenD's /__health and metrics.
            ("admin", .text(listen.port == 9901 ? "127.0.0.1:9902" : "127.0.0.1:9901")),
        ]
        if let log { members.append(("log", log)) }
        if let limits { members.append(("limits", located(limits, "max_header_bytes"))) }
        let clients = KrakenDClients(router, &findings).tree
        if let clients { members.append(("clients", clients)) }
        if let traces = KrakenDTraces(root, &findings).tree { members.append(("traces", traces)) }
        members += KrakenDSecurityHeaders(extra("security/http"), &findings).members
        if let tree = auth.tree(&findings) { members.append(("auth", tree)) }
        if let agents = KrakenDBotDetector(extra("security/bot-detector"), &findings).tree {
            members.append(("user_agents", agents))
        }
        var defaults = defaults
        let cors = KrakenDCORS(extra("security/cors"), &findings)
        if let tree = cors.tree { defaults.append(("cors", tree)) }
        var limits = KrakenDRateLimits(service: extra(KrakenDRateLimits.serviceKey), &findings)
        if !limits.namesOfService.isEmpty {
            defaults.append(("rate_limits", .texts(limits.namesOfService)))
        }
        members.append(
            (
                "defaults",
                located(
                    defaults.contains { $0.0 == "cors" } ? .block(defaults) : .inline(defaults),
                    "timeout")
            ))
        let scope = KrakenDEndpoint.Scope(
            timeout: timeout, cacheTime: root["cache_ttl"]?.goDuration,
            service: root, protections: KrakenDProtection.all(ofService: root), auth: auth,
            trustsProxies: clients != nil, corsMethods: cors.methods,
            opensProtected: opensProtected)
        let endpoints = (root["endpoints"]?.elements ?? []).map { node in
            KrakenDEndpoint(node, scope).converted(&backends, &limits)
        }
        reportRedirects(&findings)
        return ImportedDocument(
            name: root["name"]?.text, location: root.location, findings: findings, members: members,
            limits: limits, backends: backends, endpoints: endpoints, trailer: auth.keyFileLines,
            checkedMembers: ["listen": listen.address].merging(
                auth.checkedTree().map { ["auth": $0] } ?? [:]
            ) { $1 })
    }

    private func located(_ tree: YAMLTree, _ key: String) -> YAMLTree {
        .located(tree, root[key]?.location ?? root.location)
    }

    // MARK: Process

    private var router: DocumentNode? { root["extra_config"]?["router"] }
    private var listen: KrakenDListen { KrakenDListen(root) }

    /// KrakenD's default.
    private var timeout: Duration { root["timeout"]?.goDuration ?? .seconds(2) }

    /// A call may take as long as its request: KrakenD has one limit for both.
    private var defaults: [(String, YAMLTree)] {
        var members: [(String, YAMLTree)] = [
            ("deadline", .text(timeout.spelled)), ("timeout", .text(timeout.spelled)),
            // KrakenD reports in a header whether a response is complete.
            ("report", .text("header")),
        ]
        if let connect = root["dialer_timeout"]?.goDuration {
            members.append(("connect_timeout", .text(connect.spelled)))
        }
        if let size = router?["max_payload"]?.integer, size > 0 {
            members.append(("max_body", .text(Quantity.spelled(bytes: size))))
        }
        return members
    }

    /// An extension of the service.
    private func extra(_ key: String) -> DocumentNode.Member? {
        root["extra_config"]?.members.last { $0.key == key }
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
        if router?["disable_access_log"]?.flag == true {
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

    private func reportLosses(_ auth: KrakenDAuth, _ findings: inout ImportFindings) {
        for member in root.members where !Self.known.contains(member.key) {
            findings.reportLoss(of: member, among: KrakenDLosses.ofService)
        }
        listen.reportLosses(&findings)
        if let tls = root["client_tls"] { KrakenDTLS(tls).reportLosses(&findings) }
        let protections = KrakenDProtection.all(ofService: root).map(\.name)
        for member in root["extra_config"]?.members ?? [] {
            if Self.converted.contains(member.key) { continue }
            if auth.converts(member.key) { continue }
            if member.key.hasPrefix("auth/"), !protections.contains(member.key) {
                findings.note(
                    at: member.keyLocation,
                    "'\(member.key)' is left out: the endpoints that use it are left out")
                continue
            }
            guard member.key == "router" else {
                findings.reportLoss(of: member, among: KrakenDLosses.ofExtras)
                continue
            }
            for inner in member.node.members
            where !["max_payload", "disable_access_log", "use_h2c"].contains(inner.key)
                && !KrakenDClients.keys.contains(inner.key)
            {
                findings.reportLoss(of: inner, among: KrakenDLosses.ofRouter)
            }
        }
    }

    /// Unless a backend has `no_redirect`, KrakenD's client follows redirects.
    private func reportRedirects(_ findings: inout ImportFindings) {
        let backends = (root["endpoints"]?.elements ?? []).flatMap { $0["backend"]?.elements ?? [] }
        let follows = backends.contains { backend in
            backend["extra_config"]?["backend/http/client"]?["no_redirect"]?.flag != true
        }
        guard follows else { return }
        findings.note(
            at: root.location,
            "KrakenD follows redirects of backends; here a call that gets one fails, and 'proxy' passes"
                + " it on, so call the path that responds")
    }

    /// The extensions of the service that are converted.
    private static let converted = [
        "telemetry/logging", "security/cors", "security/http", "security/bot-detector",
        KrakenDRateLimits.serviceKey, KrakenDTraces.extra,
    ]

    private static let known: Set<String> = [
        "$schema", "version", "name", "port", "listen_ip", "host", "timeout", "cache_ttl",
        "dialer_timeout", "max_header_bytes", "read_header_timeout", "read_timeout", "idle_timeout",
        "dns_cache_ttl", "max_idle_connections_per_host", "idle_connection_timeout", "endpoints",
        "output_encoding", "extra_config", "client_tls", "tls",
        "allow_insecure_connections", "use_h2c",
    ]
}
