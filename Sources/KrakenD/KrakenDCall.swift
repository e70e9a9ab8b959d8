import Gateway
import YAMLReader

/// Converts one `backend` of an endpoint to a call.
struct KrakenDCall {
    /// The facts about the endpoint that a call needs.
    struct Scope {
        let endpoint: KrakenDEndpoint
        let route: Config.Route
        /// The names of all backends, in file order.
        let names: [String]
        /// Fallbacks as JSON, by call.
        var fallbacks: [String: String] = [:]
        /// The keys of lists that get the elements of calls, by call.
        var lists: [Int: String] = [:]
        /// Whether the endpoint has a `body`, so that every request has one.
        var hasBody = false
        /// The paths in each response that KrakenD changes after all calls.
        var lateChanges: [[[String]]] = [[]]

        var nodes: [DocumentNode] { endpoint.backends }
    }

    private let node: DocumentNode
    private let index: Int
    private let scope: Scope
    private let method: String
    private var findings: ImportFindings { scope.endpoint.findings }

    init(_ index: Int, _ scope: Scope) {
        node = scope.nodes[index]
        self.index = index
        self.scope = scope
        method = node["method"]?.text?.uppercased() ?? scope.route.method.rawValue
    }

    private var name: String { scope.names[index] }
    private var key: String? { KrakenDCallNames.key(of: node) }
    private var http: DocumentNode? { node.extra("backend/http")?.node }
    private var client: DocumentNode? { node.extra("backend/http/client")?.node }

    /// No client receives the response of a shadow backend, so the endpoint is complete without it.
    static func isShadow(_ node: DocumentNode) -> Bool {
        node.extra("proxy")?.node.has("shadow") == true
    }

    /// Throws a `Refusal` if the call cannot be expressed; its endpoint is then left out.
    ///
    /// - Parameters:
    ///   - shape: with the operations of the endpoint
    ///   - forward: the list of the endpoint
    func converted(
        _ shape: KrakenDShape, forward: KrakenDForward, _ backends: inout KrakenDBackends
    ) throws(Refusal) -> YAMLTree {
        try checkHost()
        // KrakenD treats an unknown encoding as JSON.
        if let encoding = node["encoding"],
            ["xml", "rss", "string", "yaml"].contains(encoding.text)
        {
            throw Refusal(
                "its responses are '\(encoding.text ?? "")', but backends must respond with JSON",
                at: encoding.location)
        }
        let urls = try urls(backends)
        let martian = KrakenDMartian(node, isRelayed: isRelayed, findings)
        let target = try KrakenDPattern(
            node["url_pattern"]?.text ?? "/", setting: martian.query, of: index, scope)
        reportLosses()
        let own = forward.narrowed(by: node).without(martian)
        let sendsBody =
            ["POST", "PUT", "PATCH", "DELETE"].contains(method) && scope.route.method.mayHaveBody
        let body = scope.hasBody ? "{request.body}" : "{request.body?}"
        let backend = backends.name(of: urls, breaker: breaker(), tls: tls(backends))
        let location = node.location(of: "url_pattern")
        var members: [(String, YAMLTree?)] = [
            ("from", .text(backend)),
            (method.lowercased(), .located(.text(target.text), location)),
        ]
        members += Self.headers(of: martian)
        members += [
            ("forward", own.isSame(as: forward) ? nil : own.tree),
            ("body", sendsBody ? .text(body) : nil), ("when", try condition()),
        ]
        members += dependencies(target) + shape.members
        // Without a key of its own, KrakenD merges the response into the root.
        let list = scope.lists[index].map { YAMLTree.text("\($0)[]") }
        members.append(("at", list ?? (key == nil ? .text(".") : nil)))
        members += [("hedge", hedge()), ("if_failed", fallback())]
        return .located(.block(YAMLTree.members(members)), node.location)
    }

    /// The headers that modifiers set. Where they set one that `forwarded` sends, the call sends all of
    /// them itself.
    static func headers(of martian: KrakenDMartian) -> [(String, YAMLTree?)] {
        guard !martian.headers.isEmpty else { return [] }
        var headers = martian.headers
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

    /// The backend that requests pass through to, and the headers that its modifiers change.
    func proxied(
        _ backends: inout KrakenDBackends
    ) throws(Refusal) -> (name: String, martian: KrakenDMartian) {
        try checkHost()
        let urls = try urls(backends)
        let martian = KrakenDMartian(node, isRelayed: true, findings)
        reportLosses()
        return (backends.name(of: urls, breaker: breaker(), tls: tls(backends)), martian)
    }

    /// The backend must be an HTTP server, which an extension can change.
    private func checkHost() throws(Refusal) {
        guard ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"].contains(method) else {
            throw Refusal("calls with \(method) are not supported", at: node["method"]?.location)
        }
        for member in node.extras where !KrakenDTable.extrasOfBackend.converts(member.key) {
            let isOther = member.key.hasPrefix("backend/")
            if let reason = KrakenDTable.extras.refusal(of: member.key)
                ?? (isOther ? "only HTTP backends are supported" : nil)
            {
                throw Refusal("it has '\(member.key)': \(reason)", at: member.keyLocation)
            }
        }
    }

    // MARK: Members

    /// `when`, from `backend/conditional`; nil without a condition.
    private func condition() throws(Refusal) -> YAMLTree? {
        guard let own = Self.conditional(node) else { return nil }
        guard own["strategy"]?.text == "fallback" else { return try Self.test(own) }
        var others: [YAMLTree] = []
        for other in scope.nodes.compactMap(Self.conditional)
        where other["strategy"]?.text != "fallback" {
            others.append(try Self.test(other))
        }
        guard let first = others.first else { return nil }
        return .inline([("not", others.count == 1 ? first : .inline([("any", .list(others))]))])
    }

    private static func conditional(_ node: DocumentNode) -> DocumentNode? {
        node.extra(KrakenDExtra.conditional)?.node
    }

    private static func test(_ setting: DocumentNode) throws(Refusal) -> YAMLTree {
        guard setting["strategy"]?.text == "header", let name = setting["name"]?.text,
            HeaderSyntax.isName(name), let value = setting["value"]?.text
        else {
            throw Refusal(
                """
                its '\(KrakenDExtra.conditional)' has no equivalent: 'when' can compare a header with a text
                """, at: setting.location)
        }
        return .inline([
            ("value", .text("{request.header.\(name)}")), ("is", .text(value.literalTemplate)),
        ])
    }

    /// `after`, `required` and relaying: a KrakenD sequence fails if its first call fails, and ends
    /// after the failure of a later one.
    private func dependencies(_ target: KrakenDPattern) -> [(String, YAMLTree?)] {
        var after: YAMLTree?
        if scope.endpoint.isSequential, let last = calls.last(where: { $0 < index }),
            !target.calls.contains(last)
        {
            after = .texts([scope.names[last]])
        }
        return [
            ("after", after), ("required", .flag(isRequired)),
            ("relay_status", relaysStatus ? .texts(["400-599"]) : nil),
            ("relay_body", .flag(isRelayed)),
        ]
    }

    private var isRequired: Bool { relaysStatus || isFirstOfSequence }

    private var isFirstOfSequence: Bool { scope.endpoint.isSequential && calls.first == index }

    /// The backends whose responses clients receive.
    private var calls: [Int] { scope.nodes.indices.filter { !Self.isShadow(scope.nodes[$0]) } }

    /// KrakenD relays a status only where the response has nothing else.
    private var relaysStatus: Bool {
        isRelayed
            || http?.has("return_error_code") == true && (calls.count == 1 || isFirstOfSequence)
    }

    private var isRelayed: Bool { scope.endpoint.isRelayed || node["encoding"]?.text == "no-op" }

    private func hedge() -> YAMLTree? {
        guard let hedge = scope.endpoint.hedge else { return nil }
        guard ["GET", "HEAD", "PUT", "DELETE"].contains(method) else {
            findings.note(
                at: hedge.location, "call '\(name)' is a \(method), which is never sent twice")
            return nil
        }
        return .inline([("after", .duration(hedge.after))])
    }

    private func fallback() -> YAMLTree? {
        guard let json = scope.fallbacks[name] else {
            // KrakenD leaves the group of a failed backend out.
            return key != nil && !isRequired && calls.count > 1 ? .text("omit") : nil
        }
        guard isRequired else { return .plain(json) }
        findings.warning(
            at: node.location,
            "'static' for call '\(name)' is left out: the call is required, so the request fails with"
                + " it")
        return nil
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
        if scope.endpoint.isWebSocket, url.hasPrefix("ws") { url = "http" + url.dropFirst(2) }
        do throws(Refusal) {
            _ = try Config.BackendURL(parsing: url)
        } catch {
            let isHTTP = ["http", "https"].contains(url.prefix { $0 != ":" }.lowercased())
            throw Refusal(
                isHTTP
                    ? "its host '\(text)' \(error.message)"
                    : "its host '\(text)' does not use HTTP",
                at: host.location)
        }
        return url
    }

    /// The settings of the call, or the settings of the service.
    private func tls(_ backends: KrakenDBackends) -> YAMLTree? {
        guard let own = client?["client_tls"] else { return backends.commonTLS }
        return KrakenDTLS(own).tree
    }

    /// KrakenD counts consecutive failures; the gateway measures the share of failures.
    private func breaker() -> YAMLTree? {
        guard let member = node.extra("qos/circuit-breaker") else { return nil }
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

    private func reportLosses() {
        KrakenDTable.backend.report(node, findings)
        if scope.endpoint.passesThrough { reportIgnored() } else { reportShape() }
        KrakenDTable.extrasOfBackend.report(node["extra_config"], findings) {
            !KrakenDProtection.protects($0.key)
        }
        KrakenDTable.client.report(client, findings)
        if let tls = client?["client_tls"] { KrakenDTLS(tls).reportLosses(findings) }
    }

    /// KrakenD passes the response through, so these keys have no effect.
    private func reportIgnored() {
        let keys: Set = ["target", "allow", "deny", "mapping", "group", "is_collection"]
        let settings = node.members.filter {
            keys.contains($0.key) || $0.key == "encoding" && $0.node.text != "no-op"
        }
        let extras = node.extras.filter { ["backend/http", "proxy"].contains($0.key) }
        for member in settings + extras {
            findings.reportLoss(
                of: member, .note, "KrakenD ignores it with 'output_encoding: no-op'")
        }
    }

    private func reportShape() {
        reportEncoding()
        if let target = node["target"], let path = target.name, !KrakenDShape.isList(node) {
            findings.warning(
                at: target.location,
                "a response without '\(path)' is a failure ('invalid_shape'); KrakenD takes an empty"
                    + " object instead")
        }
        KrakenDTable.proxyOfBackend.report(node.extra("proxy")?.node, findings)
        KrakenDTable.errors.report(http, findings)
        if let setting = http?["return_error_code"], setting.flag == true, !relaysStatus {
            findings.warning(
                at: setting.location,
                "'return_error_code' is left out: KrakenD relays a status where all backends of the"
                    + " endpoint failed; here it is 502, 503 or 504")
        }
    }

    private func reportEncoding() {
        let encoding = node["encoding"]
        let isSafe = encoding?.text == "safejson"
        if let encoding, encoding.text == "no-op", !scope.endpoint.isRelayed {
            findings.warning(
                at: encoding.location,
                "'encoding: no-op' relayed any response; here it must be a JSON object")
        }
        if let encoding, isSafe, key == nil {
            findings.warning(
                at: encoding.location,
                "'safejson' stores a list under 'collection' and a text or number under 'content'; with"
                    + " 'at: .' such a response is a failure. If the backend responds with a list, name"
                    + " the call 'collection' and remove 'at'")
        }
        guard node["group"]?.name != nil else { return }
        if KrakenDShape.isList(node) {
            let inner = KrakenDShape.nameOfList(node) ?? "collection"
            findings.warning(
                at: node.location(of: "is_collection"),
                "the list is the value of '\(name)' itself, not of '\(inner)' inside it")
        } else if let encoding, isSafe {
            findings.warning(
                at: encoding.location,
                "'safejson': a list is the value of '\(name)' itself, not of 'collection' inside it,"
                    + " and a text or number is not stored under 'content'")
        }
    }
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
