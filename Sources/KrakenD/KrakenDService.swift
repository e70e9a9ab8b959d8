import Basics
import Gateway
import Patterns
import Reactor
import YAMLReader

/// Converts the top level: the settings of the process, then the endpoints, which share the object.
final class KrakenDService {
    let root: DocumentNode
    /// `--open-protected`
    let opensProtected: Bool
    let findings = ImportFindings()
    let auth: KrakenDAuth
    let protections: [KrakenDProtection]
    var backends: KrakenDBackends
    var limits = KrakenDRateLimits()
    /// Whether `X-Forwarded-Proto` of a proxy is known to be true.
    private(set) var trustsProxies = false
    /// The methods that pages of other origins may use; nil for all.
    private(set) var corsMethods: Set<String>?

    init(_ root: DocumentNode, opensProtected: Bool) {
        self.root = root
        self.opensProtected = opensProtected
        backends = KrakenDBackends(root)
        auth = KrakenDAuth(root, &backends)
        protections = KrakenDProtection.all(ofService: root)
    }

    /// KrakenD's default.
    var timeout: Duration { root["timeout"]?.goDuration ?? .seconds(2) }

    private var router: DocumentNode? { root.extra("router")?.node }

    func converted() -> ImportedDocument {
        let listen = KrakenDListen(root)
        reportLosses(listen)
        let clients = clients()
        trustsProxies = clients != nil
        let log =
            KrakenDTable.logging.members(of: root.extra("telemetry/logging")?.node, in: "log")
            + KrakenDTable.router.members(of: router, in: "log")
        let limits = YAMLTree.inline(
            unlessEmpty: KrakenDTable.service.members(of: root, in: "limits"))
        var members: [(String, YAMLTree?)] = [
            ("version", .plain("1")), ("listen", located(listen.tree, "port")),
            // Replaces KrakenD's /__health and metrics.
            ("admin", .text(listen.port == 9901 ? "127.0.0.1:9902" : "127.0.0.1:9901")),
            ("log", .inline(unlessEmpty: log)),
            ("limits", limits.map { located($0, "max_header_bytes") }),
            ("clients", clients), ("traces", traces()),
        ]
        members += securityHeaders()
        members += [("auth", auth.tree(findings)), ("user_agents", userAgents())]
        members.append(("defaults", located(defaults(), "timeout")))
        let endpoints = (root["endpoints"]?.elements ?? []).map {
            KrakenDEndpoint($0, self).converted()
        }
        reportRedirects()
        var checked = ["listen": listen.address]
        checked["auth"] = auth.tree(ImportFindings(), isChecked: true)
        return ImportedDocument(
            name: root["name"]?.text, location: root.location, findings: findings,
            members: YAMLTree.members(members), limits: self.limits.all,
            limitsOfService: Set(self.limits.namesOfService), backends: backends,
            endpoints: endpoints, trailer: auth.keyFileLines, checkedMembers: checked)
    }

    private func located(_ tree: YAMLTree, _ key: String) -> YAMLTree {
        .located(tree, root.location(of: key))
    }

    /// A call may take as long as its request: KrakenD has one limit for both.
    private func defaults() -> YAMLTree {
        let cors = cors()
        if let member = root.extra("qos/ratelimit/service") {
            limits.addLimits(ofService: member, findings)
        }
        let members = YAMLTree.members(
            [
                ("deadline", .duration(timeout)), ("timeout", .duration(timeout)),
                // KrakenD reports in a header whether a response is complete.
                ("report", .text("header")),
            ]
                + KrakenDTable.service.members(of: root, in: "defaults")
                + KrakenDTable.router.members(of: router, in: "defaults")
                + [("cors", cors), ("rate_limits", .texts(unlessEmpty: limits.namesOfService))])
        return cors == nil ? .inline(members) : .block(members)
    }

    /// The texts of a list that can be converted; the others are reported.
    private func texts(
        of key: String, in node: DocumentNode, _ convert: (String) throws(Refusal) -> String
    ) -> [String] {
        (node[key]?.texts ?? []).compactMap { text in
            do throws(Refusal) {
                return try convert(text)
            } catch {
                findings.warning(
                    at: node.location(of: key),
                    "'\(text)' of '\(key)' is left out: it \(error.message)")
                return nil
            }
        }
    }

    // MARK: Clients

    /// `clients`; nil if client addresses are the addresses of the connections.
    private func clients() -> YAMLTree? {
        guard let router, let setting = router["forwarded_by_client_ip"], setting.flag == true
        else {
            for member in router?.members ?? []
            where ["remote_ip_headers", "trusted_proxies"].contains(member.key) {
                findings.reportLoss(
                    of: member, .note, "KrakenD does not use it without 'forwarded_by_client_ip'")
            }
            return nil
        }
        guard let proxies = router["trusted_proxies"], !proxies.texts.isEmpty else {
            findings.note(
                at: setting.location,
                "'forwarded_by_client_ip' is left out: without 'trusted_proxies', client addresses"
                    + " are the addresses of the connections")
            return nil
        }
        guard readsForwardedFor(router["remote_ip_headers"]) else { return nil }
        let networks = texts(of: "trusted_proxies", in: router) { text throws(Refusal) in
            do throws(AddressPrefix.Fault) {
                _ = try AddressPrefix(text)
                return text
            } catch {
                // KrakenD ignores bits after the prefix of a network.
                if case .bitsAfterPrefix(let meant) = error { return meant.description }
                throw Refusal("is not a network")
            }
        }
        return networks.isEmpty
            ? nil : .located(.inline([("trusted_proxies", .texts(networks))]), proxies.location)
    }

    /// Of the headers that KrakenD can read, the gateway reads only `X-Forwarded-For`.
    private func readsForwardedFor(_ headers: DocumentNode?) -> Bool {
        guard let headers, !headers.texts.isEmpty else { return true }
        let others = headers.texts.filter { $0.lowercased() != "x-forwarded-for" }
        guard others.count < headers.texts.count else {
            findings.warning(
                at: headers.location,
                "'remote_ip_headers' is left out: trusted proxies must send the client's address in"
                    + " 'X-Forwarded-For'")
            return false
        }
        for name in others {
            findings.warning(
                at: headers.location,
                "'\(name)' of 'remote_ip_headers' is left out: the client's address is read from"
                    + " 'X-Forwarded-For'")
        }
        return true
    }

    /// `user_agents`, from `security/bot-detector`.
    private func userAgents() -> YAMLTree? {
        guard let member = root.extra("security/bot-detector") else { return nil }
        let node = member.node
        var patterns = node.has("empty_user_agent_is_bot") ? [""] : []
        patterns += (node["deny"]?.texts ?? []).map(KrakenDRegex.literal)
        for pattern in node["patterns"]?.elements ?? [] {
            guard let text = pattern.text else { continue }
            do throws(PatternError) {
                patterns.append(try KrakenDRegex.whole(text))
            } catch {
                findings.warning(at: pattern.location, "this pattern is left out: \(error)")
            }
        }
        KrakenDTable.botDetector.report(node, findings)
        return patterns.isEmpty
            ? nil : .located(.block([("deny", .texts(patterns))]), member.keyLocation)
    }

    // MARK: Browsers

    /// `hosts` and `response_headers`; all responses have `X-Content-Type-Options` anyway.
    private func securityHeaders() -> [(String, YAMLTree?)] {
        guard let member = root.extra("security/http") else { return [] }
        let node = member.node
        KrakenDTable.securityHeaders.report(node, findings) { inner in
            inner.node.flag != false && inner.node.text != "" && !inner.node.isEmptyCollection
        }
        let frames =
            node["custom_frame_options_value"]?.name ?? (node.has("frame_deny") ? "DENY" : nil)
        let seconds = node["sts_seconds"]?.integer ?? 0
        let subdomains = node.has("sts_include_subdomains") ? "; includeSubDomains" : ""
        let transport = seconds > 0 ? "max-age=\(seconds)\(subdomains)" : nil
        let headers = YAMLTree.members(
            [("X-Frame-Options", frames.map(YAMLTree.text))]
                + KrakenDTable.securityHeaders.members(of: node, in: "headers")
                + [("Strict-Transport-Security", transport.map(YAMLTree.text))])
        return [
            ("hosts", hosts(node)), ("response_headers", headers.isEmpty ? nil : .block(headers)),
        ].map { key, tree in (key, tree.map { .located($0, member.keyLocation) }) }
    }

    private func hosts(_ node: DocumentNode) -> YAMLTree? {
        guard let list = node["allowed_hosts"], !list.texts.isEmpty else { return nil }
        guard !node.has("allowed_hosts_are_regex") else {
            findings.warning(
                at: list.location,
                "'allowed_hosts' is left out: 'hosts' has names, and no regular expressions, so"
                    + " requests for any host are accepted")
            return nil
        }
        // One host that the result cannot have must not open it to all others.
        let hosts = texts(of: "allowed_hosts", in: node) { text throws(Refusal) in
            try HostSyntax.check(text)
            return text
        }
        // Without any, the check of the result says that all hosts are accepted.
        return .texts(hosts.isEmpty ? list.texts : hosts)
    }

    /// `defaults.cors`; nil if the whole extension is left out.
    private func cors() -> YAMLTree? {
        guard let member = root.extra("security/cors") else { return nil }
        let node = member.node
        var origins = texts(of: "allow_origins", in: node) { text throws(Refusal) in
            _ = try Config.CORS.Origin(parsing: text)
            return text
        }
        // KrakenD's default.
        if node["allow_origins"]?.texts.isEmpty != false { origins = ["*"] }
        guard !origins.isEmpty else {
            findings.reportLoss(of: member, .warning, "it has no valid origin")
            return nil
        }
        let hasCredentials = node.has("allow_credentials") && !origins.contains("*")
        if node.has("allow_credentials"), !hasCredentials {
            findings.warning(
                at: node.location(of: "allow_credentials"),
                "'allow_credentials' is left out: any page could act for its visitors; list the"
                    + " origins")
        }
        let headers = ["allow_headers", "expose_headers"].map { key in
            (node[key]?.texts ?? []).filter { name in
                guard name == "*", hasCredentials else { return true }
                findings.warning(
                    at: node.location(of: key),
                    "'*' is left out: with credentials, browsers read it as the name of a header")
                return false
            }
        }
        KrakenDTable.cors.report(node, findings)
        let methods = node["allow_methods"]?.texts ?? []
        corsMethods = Set(
            (methods.isEmpty ? ["GET", "HEAD", "POST"] : methods).map { $0.uppercased() })
        let members: [(String, YAMLTree?)] = [
            ("origins", .texts(origins)), ("headers", .texts(unlessEmpty: headers[0])),
            ("expose", .texts(unlessEmpty: headers[1])), ("credentials", .flag(hasCredentials)),
        ]
        return .located(
            .inline(
                YAMLTree.members(members) + KrakenDTable.cors.members(of: node, in: "cors")),
            member.keyLocation)
    }

    // MARK: Traces

    /// `traces`, from an OTLP/HTTP exporter of `telemetry/opentelemetry`.
    private func traces() -> YAMLTree? {
        guard let member = root.extra("telemetry/opentelemetry") else { return nil }
        let exporters = (member.node["exporters"]?["otlp"]?.elements ?? []).filter {
            !$0.has("disable_traces")
        }
        guard !exporters.isEmpty else {
            findings.reportLoss(
                of: member, .note, "the admin address has /metrics; 'traces' exports spans")
            return nil
        }
        guard let exporter = exporters.first(where: { $0.has("use_http") }),
            let host = exporter["host"]?.name
        else {
            findings.reportLoss(
                of: member, .warning,
                "spans are exported over OTLP/HTTP, not OTLP/gRPC; write 'traces'"
                    + " with the collector's HTTP port")
            return nil
        }
        findings.note(
            at: member.keyLocation,
            "'\(member.key)' became 'traces', with the gateway's own spans; the admin address has"
                + " /metrics")
        let port = exporter["port"]?.integer ?? 4318
        let share = member.node["trace_sample_rate"]?.number.flatMap(Double.init) ?? 1
        let members: [(String, YAMLTree?)] = [
            ("otlp", .text("http://\(host):\(port)/v1/traces")),
            (
                "sample",
                .text(
                    Quantity.spelled(millionths: Int((min(max(share, 0), 1) * 1_000_000).rounded()))
                )
            ),
            ("service", member.node["service_name"].flatMap(YAMLTree.name)),
        ]
        return .located(.inline(YAMLTree.members(members)), member.keyLocation)
    }

    // MARK: Losses

    private func reportLosses(_ listen: KrakenDListen) {
        KrakenDTable.service.report(root, findings)
        listen.reportLosses(findings)
        if let tls = root["client_tls"] { KrakenDTLS(tls).reportLosses(findings) }
        // A file may have it by its names of both versions.
        for member in root.extras where member.key == "router" {
            KrakenDTable.router.report(member.node, findings)
        }
        KrakenDTable.extrasOfService.report(root["extra_config"], findings) { member in
            guard !auth.converts(member.key) else { return false }
            guard member.key.hasPrefix("auth/"),
                !protections.contains(where: { $0.name == member.key })
            else { return true }
            findings.reportLoss(of: member, .note, "the endpoints that use it are left out")
            return false
        }
    }

    /// Unless a backend has `no_redirect`, KrakenD's client follows redirects.
    private func reportRedirects() {
        let backends = (root["endpoints"]?.elements ?? []).flatMap { $0["backend"]?.elements ?? [] }
        let follows = backends.contains { backend in
            backend.extra("backend/http/client")?.node.has("no_redirect") != true
        }
        guard follows else { return }
        findings.note(
            at: root.location,
            "KrakenD follows redirects of backends; here a call that gets one fails, and 'proxy' passes"
                + " it on, so call the path that responds")
    }
}

extension DocumentNode {
    fileprivate var isEmptyCollection: Bool {
        switch content {
        case .sequence(let elements): elements.isEmpty
        case .mapping(let members): members.isEmpty
        case .scalar: false
        }
    }
}
