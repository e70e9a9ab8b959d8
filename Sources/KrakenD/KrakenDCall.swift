import Gateway
import YAMLReader

/// Converts one `backend` of an endpoint to a call.
struct KrakenDCall {
    /// The facts about the endpoint that a call needs.
    struct Scope {
        let route: Config.Route
        /// The names of all backends, in file order.
        let names: [String]
        let nodes: [DocumentNode]
        let isSequential: Bool
        /// `output_encoding: no-op`
        let isRelayed: Bool
        /// Whether the endpoint becomes a `proxy`.
        let passesThrough: Bool
        /// Whether `ws://` is the scheme of its hosts.
        let isWebSocket: Bool
        /// Whether the endpoint has tokens, so that `{JWT.sub}` is a claim.
        let readsTokens: Bool
        let hedge: (after: Duration, location: SourceLocation)?
        /// Fallbacks as JSON, by call.
        let fallbacks: [String: String]
        /// Whether the endpoint has a `body`, so that every request has one.
        let hasBody: Bool
        /// The paths in each response that KrakenD changes after all calls.
        let lateChanges: [[[String]]]
    }

    private let node: DocumentNode
    private let index: Int
    private let scope: Scope

    init(_ index: Int, _ scope: Scope) {
        node = scope.nodes[index]
        self.index = index
        self.scope = scope
    }

    private var name: String { scope.names[index] }
    private var extras: [DocumentNode.Member] { node["extra_config"]?.members ?? [] }
    private var http: DocumentNode? { node["extra_config"]?["backend/http"] }

    private var method: String {
        node["method"]?.text?.uppercased() ?? scope.route.method.rawValue
    }

    /// No client receives the response of a shadow backend, so the endpoint is complete without it.
    static func isShadow(_ node: DocumentNode) -> Bool {
        node["extra_config"]?["proxy"]?["shadow"]?.flag == true
    }

    /// Throws a `Refusal` if the call cannot be expressed; its endpoint is then left out.
    ///
    /// - Parameters:
    ///   - shape: with the operations of the endpoint
    ///   - forward: the list of the endpoint
    func converted(
        _ shape: KrakenDShape, forward: KrakenDForward, _ backends: inout KrakenDBackends,
        _ findings: inout ImportFindings
    ) throws(Refusal) -> YAMLTree {
        try checkSupport()
        let urls = try urls(backends)
        let martian = KrakenDMartian(node, isRelayed: isRelayed, &findings)
        let target = try KrakenDPattern(
            node["url_pattern"]?.text ?? "/", setting: martian.query, of: index, scope)
        reportLosses(&findings)
        let breaker = breaker(&findings)
        let backend = backends.name(of: urls, breaker: breaker, tls: tls(backends))
        var members: [(String, YAMLTree)] = [("from", .text(backend))]
        let location = node["url_pattern"]?.location ?? node.location
        members.append((method.lowercased(), .located(.text(target.text), location)))
        members += Self.headers(of: martian)
        let own = forward.narrowed(by: node).without(martian)
        if !own.isSame(as: forward) { members.append(("forward", own.tree)) }
        if ["POST", "PUT", "PATCH", "DELETE"].contains(method), scope.route.method.mayHaveBody {
            members.append(("body", .text(scope.hasBody ? "{request.body}" : "{request.body?}")))
        }
        if let condition = try KrakenDConditional.condition(of: index, among: scope.nodes) {
            members.append(("when", condition))
        }
        members += dependencies(target)
        members += shape.members
        // Without a key of its own, KrakenD merges the response into the root.
        if KrakenDCallNames.key(of: node) == nil { members.append(("at", .text("."))) }
        members += hedgeAndFallback(&findings)
        return .located(.block(members), node.location)
    }

    /// The headers that modifiers set. Where they set one that `forwarded` sends, the call sends all of
    /// them itself.
    static func headers(of martian: KrakenDMartian) -> [(String, YAMLTree)] {
        guard !martian.headers.isEmpty else { return [] }
        var headers = martian.headers.map { ($0.name, $0.value) }
        guard martian.setsForwarding else { return [("headers", .inline(headers))] }
        for (name, value) in [
            ("X-Forwarded-For", "{request.client?}"),
            ("X-Forwarded-Host", "{request.header.Host?}"),
        ] where !martian.replaces(name) {
            headers.append((name, .text(value)))
        }
        return [("headers", .inline(headers)), ("forwarded", .text("off"))]
    }

    // MARK: Passing through

    /// Whether KrakenD relays the response of the only backend of a `no-op` endpoint without reading
    /// it. It then ignores what would change the response.
    static func passesThrough(_ node: DocumentNode, as route: Config.Route?, method: String) -> Bool
    {
        let pattern = node["url_pattern"]?.text ?? "/"
        let names = pattern.split(separator: "{").dropFirst().map { $0.prefix { $0 != "}" } }
        return (node["method"]?.text?.uppercased() ?? method) == method && !isShadow(node)
            && !pattern.contains("?") && !KrakenDMartian.changesQuery(node)
            && names.allSatisfy { route?.parameters.contains(String($0)) != false }
    }

    /// The backend that requests pass through to, and the headers that its modifiers change.
    func proxied(
        _ backends: inout KrakenDBackends, _ findings: inout ImportFindings
    ) throws(Refusal) -> (name: String, martian: KrakenDMartian) {
        try checkHost()
        let urls = try urls(backends)
        let martian = KrakenDMartian(node, isRelayed: true, &findings)
        reportLosses(&findings)
        let name = backends.name(of: urls, breaker: breaker(&findings), tls: tls(backends))
        return (name, martian)
    }

    private func checkSupport() throws(Refusal) {
        try checkHost()
        let encoding = node["encoding"]?.text ?? "json"
        // KrakenD treats an unknown encoding as JSON.
        guard !["xml", "rss", "string", "yaml"].contains(encoding) else {
            throw Refusal(
                "its responses are '\(encoding)', but backends must respond with JSON",
                at: node["encoding"]?.location)
        }
    }

    /// The backend must be an HTTP server, which an extension can change.
    private func checkHost() throws(Refusal) {
        guard ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"].contains(method) else {
            throw Refusal("calls with \(method) are not supported", at: node["method"]?.location)
        }
        for member in extras where !Self.knownExtras.contains(member.key) {
            let reason =
                KrakenDLosses.ofOtherBackends[member.key]
                ?? (member.key.hasPrefix("backend/") ? "only HTTP backends are supported" : nil)
            if let reason {
                throw Refusal("it has '\(member.key)': \(reason)", at: member.keyLocation)
            }
        }
    }

    // MARK: Members

    /// `after`, `required` and relaying: a KrakenD sequence fails if its first call fails, and ends
    /// after the failure of a later one.
    private func dependencies(_ target: KrakenDPattern) -> [(String, YAMLTree)] {
        var members: [(String, YAMLTree)] = []
        let earlier = calls.last { $0 < index }
        if scope.isSequential, let last = earlier, !target.calls.contains(last) {
            members.append(("after", .texts([scope.names[last]])))
        }
        if isRequired { members.append(("required", .plain("true"))) }
        if relaysStatus { members.append(("relay_status", .texts(["400-599"]))) }
        if isRelayed { members.append(("relay_body", .plain("true"))) }
        return members
    }

    private var isRequired: Bool { relaysStatus || isFirstOfSequence }

    private var isFirstOfSequence: Bool {
        scope.isSequential && scope.nodes.count > 1 && calls.first == index
    }

    /// The backends whose responses clients receive.
    private var calls: [Int] { scope.nodes.indices.filter { !Self.isShadow(scope.nodes[$0]) } }

    /// KrakenD relays a status only where the response has nothing else.
    private var relaysStatus: Bool {
        isRelayed
            || http?["return_error_code"]?.flag == true && (calls.count == 1 || isFirstOfSequence)
    }

    private var isRelayed: Bool { scope.isRelayed || node["encoding"]?.text == "no-op" }

    private func hedgeAndFallback(_ findings: inout ImportFindings) -> [(String, YAMLTree)] {
        var members: [(String, YAMLTree)] = []
        if let hedge = scope.hedge {
            if ["GET", "HEAD", "PUT", "DELETE"].contains(method) {
                members.append(("hedge", .inline([("after", .text(hedge.after.spelled))])))
            } else {
                findings.note(
                    at: hedge.location, "call '\(name)' is a \(method), which is never sent twice")
            }
        }
        if let json = scope.fallbacks[name] {
            if isRequired {
                findings.warning(
                    at: node.location,
                    "'static' for call '\(name)' is left out: the call is required, so the request"
                        + " fails with it")
            } else {
                members.append(("if_failed", .plain(json)))
            }
        } else if KrakenDCallNames.key(of: node) != nil, !isRequired, calls.count > 1 {
            // KrakenD leaves the group of a failed backend out.
            members.append(("if_failed", .text("omit")))
        }
        return members
    }

    // MARK: Backend

    private func urls(_ backends: KrakenDBackends) throws(Refusal) -> [String] {
        let own = node["host"]?.elements ?? []
        let hosts = own.isEmpty ? backends.commonHosts : own
        guard !hosts.isEmpty else { throw Refusal("it has no host") }
        var urls: [String] = []
        for host in hosts {
            let url = try url(host)
            if !urls.contains(url) { urls.append(url) }
        }
        return urls
    }

    private func url(_ host: DocumentNode) throws(Refusal) -> String {
        let text = host.text ?? ""
        var url = text.contains("://") ? text : "http://\(text)"
        while url.hasSuffix("/") { url.removeLast() }
        if scope.isWebSocket, url.hasPrefix("ws") { url = "http" + url.dropFirst(2) }
        do throws(Refusal) {
            _ = try Config.BackendURL(parsing: url)
        } catch {
            let scheme = url.prefix { $0 != ":" }.lowercased()
            throw Refusal(
                ["http", "https"].contains(scheme)
                    ? "its host '\(text)' \(error.message)"
                    : "its host '\(text)' does not use HTTP", at: host.location)
        }
        return url
    }

    /// The settings of the call, or those of the service.
    private func tls(_ backends: KrakenDBackends) -> YAMLTree? {
        guard let own = client?["client_tls"] else { return backends.commonTLS }
        return KrakenDTLS(own).tree
    }

    private var client: DocumentNode? { node["extra_config"]?["backend/http/client"] }

    /// KrakenD counts consecutive failures; the gateway measures the share of failures.
    private func breaker(_ findings: inout ImportFindings) -> YAMLTree? {
        guard let member = extras.first(where: { $0.key == "qos/circuit-breaker" }) else {
            return nil
        }
        let errors = max(1, member.node["max_errors"]?.integer ?? 1)
        let window = max(1, member.node["interval"]?.integer ?? 60)
        let pause = max(1, member.node["timeout"]?.integer ?? 10)
        findings.note(
            at: member.keyLocation,
            "'\(member.key)' opened after \(errors) consecutive failure\(errors == 1 ? "" : "s");"
                + " this circuit breaker opens at a share of failures of all calls to the backend")
        return .located(
            .inline([
                ("open_at", .text("50%")), ("min_requests", .plain("\(errors)")),
                ("window", .text("\(window)s")), ("try_again_after", .text("\(pause)s")),
            ]), member.keyLocation)
    }

    // MARK: Losses

    private func reportLosses(_ findings: inout ImportFindings) {
        for member in node.members where !Self.known.contains(member.key) {
            findings.reportLoss(of: member, among: Self.losses)
        }
        if scope.passesThrough { reportIgnored(&findings) } else { reportShape(&findings) }
        if let sd = node["sd"], sd.text != "static" {
            findings.warning(
                at: sd.location,
                "'sd: \(sd.text ?? "")' is left out: host names are resolved to addresses (A and AAAA),"
                    + " cached for 'dns_ttl'")
        }
        for member in extras
        where !Self.knownExtras.contains(member.key) && !KrakenDProtection.protects(member.key) {
            findings.reportLoss(of: member, among: KrakenDLosses.ofExtras)
        }
        for member in client?.members ?? [] where member.key != "client_tls" {
            findings.reportLoss(of: member, among: Self.clientLosses)
        }
        if let tls = client?["client_tls"] { KrakenDTLS(tls).reportLosses(&findings) }
    }

    /// KrakenD passes the response through, so these keys have no effect.
    private func reportIgnored(_ findings: inout ImportFindings) {
        let keys: Set = ["target", "allow", "deny", "mapping", "group", "is_collection"]
        for member in node.members
        where keys.contains(member.key) || member.key == "encoding" && member.node.text != "no-op" {
            findings.note(
                at: member.keyLocation,
                "'\(member.key)' is left out: KrakenD ignores it with 'output_encoding: no-op'")
        }
        for extra in extras where ["backend/http", "proxy"].contains(extra.key) {
            findings.note(
                at: extra.keyLocation,
                "'\(extra.key)' is left out: KrakenD ignores it with 'output_encoding: no-op'")
        }
    }

    private func reportShape(_ findings: inout ImportFindings) {
        reportEncoding(&findings)
        if let target = node["target"], let path = target.text, !path.isEmpty,
            !KrakenDShape.isList(node)
        {
            findings.warning(
                at: target.location,
                "a response without '\(path)' is a failure ('invalid_shape'); KrakenD takes an empty"
                    + " object instead")
        }
        for member in node["extra_config"]?["proxy"]?.members ?? []
        where !["shadow", "flatmap_filter"].contains(member.key) {
            findings.reportLoss(of: member, among: KrakenDLosses.ofProxy)
        }
        for member in http?.members ?? [] where member.key != "return_error_code" {
            findings.reportLoss(of: member, among: Self.errorLosses)
        }
        if let setting = http?["return_error_code"], setting.flag == true, !relaysStatus {
            findings.warning(
                at: setting.location,
                "'return_error_code' is left out: KrakenD relays a status where all backends of the"
                    + " endpoint failed; here it is 502, 503 or 504")
        }
    }

    private func reportEncoding(_ findings: inout ImportFindings) {
        if let encoding = node["encoding"], encoding.text == "no-op", !scope.isRelayed {
            findings.warning(
                at: encoding.location,
                "'encoding: no-op' relayed any response; here it must be a JSON object")
        }
        if let encoding = node["encoding"], encoding.text == "safejson",
            KrakenDCallNames.key(of: node) == nil
        {
            findings.warning(
                at: encoding.location,
                "'safejson' stores a list under 'collection' and a text or number under 'content'; with"
                    + " 'at: .' such a response is a failure. If the backend responds with a list, name"
                    + " the call 'collection' and remove 'at'")
        }
        guard node["group"]?.text?.isEmpty == false else { return }
        if KrakenDShape.isList(node) {
            let key = KrakenDShape.nameOfList(node) ?? "collection"
            findings.warning(
                at: node["is_collection"]?.location ?? node.location,
                "the list is the value of '\(name)' itself, not of '\(key)' inside it")
        } else if let encoding = node["encoding"], encoding.text == "safejson" {
            findings.warning(
                at: encoding.location,
                "'safejson': a list is the value of '\(name)' itself, not of 'collection' inside it,"
                    + " and a text or number is not stored under 'content'")
        }
    }

    private static let losses: [String: ImportLoss] = [
        "sd_scheme": .warning("the scheme is a part of the host's URL"),
        "timeout": .note("KrakenD ignores it on a backend"),
        "concurrent_calls": .note("KrakenD ignores it on a backend"),
    ]

    private static let clientLosses: [String: ImportLoss] = [
        "send_body_on_redirect": .note("redirects are not followed"),
        "no_redirect": .note("redirects are never followed"),
        "proxy_address": .warning("calls do not use a proxy"),
    ]

    private static let errorLosses: [String: ImportLoss] = [
        "return_error_details": .warning(
            "a failure is reported by its kind, with 'report: body' in '_gateway'"),
        "return_error_msg": .note("'relay_body: true' relays the body of a relayed status"),
    ]

    private static let knownExtras: Set<String> = [
        "qos/circuit-breaker", "backend/http", "backend/http/client", "proxy", "modifier/martian",
        KrakenDConditional.extra,
    ]

    private static let known: Set<String> = [
        "host", "url_pattern", "method", "encoding", "group", "target", "allow", "deny", "mapping",
        "is_collection", "sd", "disable_host_sanitize", "input_headers", "input_query_strings",
        "extra_config",
    ]
}

extension Config.Method {
    /// Whether a client may send a body with it.
    fileprivate var mayHaveBody: Bool {
        switch self {
        case .get, .head, .options: false
        case .post, .put, .patch, .delete, .any: true
        }
    }
}
