import Gateway
import YAMLReader

/// Converts KrakenD's `security/http` to `hosts` and `response_headers`; all responses have
/// `X-Content-Type-Options` anyway.
struct KrakenDSecurityHeaders {
    /// Keys of the top level.
    private(set) var members: [(String, YAMLTree)] = []

    init(_ member: DocumentNode.Member?, _ findings: inout ImportFindings) {
        guard let member else { return }
        let node = member.node
        if let hosts = Self.hosts(node, &findings) { members.append(("hosts", hosts)) }
        let headers = Self.headers(node)
        if !headers.isEmpty { members.append(("response_headers", .block(headers))) }
        members = members.map { ($0.0, .located($0.1, member.keyLocation)) }
        for inner in node.members where !Self.known.contains(inner.key) && inner.isSet {
            findings.reportLoss(of: inner, among: Self.losses)
        }
    }

    private static let known: Set<String> = [
        "allowed_hosts", "allowed_hosts_are_regex", "content_type_nosniff", "frame_deny",
        "custom_frame_options_value", "content_security_policy", "referrer_policy", "sts_seconds",
        "sts_include_subdomains",
    ]

    private static let losses: [String: ImportLoss] = [
        "ssl_redirect": .warning("add a listener with 'redirect: https'"),
        "ssl_host": .warning("'redirect' keeps the host of the request"),
        "ssl_proxy_headers": .note("requests are not redirected"),
        "host_proxy_headers": .warning("'hosts' is compared with 'Host' only"),
        "browser_xss_filter": .note("browsers have removed the filter"),
        "hpkp_public_key": .note("browsers have removed public key pinning"),
        "is_development": .warning("all checks apply always"),
    ]

    private static func hosts(
        _ node: DocumentNode, _ findings: inout ImportFindings
    ) -> YAMLTree? {
        guard let list = node["allowed_hosts"], !list.texts.isEmpty else { return nil }
        if node["allowed_hosts_are_regex"]?.flag == true {
            findings.warning(
                at: list.location,
                "'allowed_hosts' is left out: 'hosts' has names, and no regular expressions, so"
                    + " requests for any host are accepted")
            return nil
        }
        let hosts = list.texts.filter { isHost($0, list.location, &findings) }
        // Without any, the check of the result says that all hosts are accepted.
        return .texts(hosts.isEmpty ? list.texts : hosts)
    }

    /// One host that the result cannot have must not open it to all others.
    private static func isHost(
        _ text: String, _ location: SourceLocation, _ findings: inout ImportFindings
    ) -> Bool {
        do throws(Refusal) {
            try HostSyntax.check(text)
            return true
        } catch {
            findings.warning(
                at: location, "'\(text)' of 'allowed_hosts' is left out: it \(error.message)")
            return false
        }
    }

    private static func headers(_ node: DocumentNode) -> [(String, YAMLTree)] {
        var headers: [(String, YAMLTree)] = []
        func add(_ name: String, _ value: String?) {
            if let value, !value.isEmpty { headers.append((name, .text(value))) }
        }
        let frames = node["custom_frame_options_value"]?.text ?? ""
        add(
            "X-Frame-Options",
            frames.isEmpty ? (node["frame_deny"]?.flag == true ? "DENY" : nil) : frames)
        add("Content-Security-Policy", node["content_security_policy"]?.text)
        add("Referrer-Policy", node["referrer_policy"]?.text)
        if let seconds = node["sts_seconds"]?.integer, seconds > 0 {
            let rest = node["sts_include_subdomains"]?.flag == true ? "; includeSubDomains" : ""
            add("Strict-Transport-Security", "max-age=\(seconds)\(rest)")
        }
        return headers
    }
}

extension DocumentNode.Member {
    /// Whether the value is neither `false` nor empty.
    fileprivate var isSet: Bool {
        node.flag != false && node.text != "" && !(node.text == nil && node.isEmptyCollection)
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
