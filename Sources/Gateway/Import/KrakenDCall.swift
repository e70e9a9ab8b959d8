import YAMLReader

/// One `backend` of an endpoint as a call.
struct KrakenDCall {
    /// What a call has to know of its endpoint.
    struct Scope {
        let route: Config.Route
        /// Of all calls, in file order.
        let names: [String]
        let nodes: [DocumentNode]
        let isSequential: Bool
        let hedge: (after: Duration, place: Place)?
        /// JSON by call.
        let fallbacks: [String: String]
    }

    private let node: DocumentNode
    private let index: Int
    private let scope: Scope
    private(set) var backends: KrakenDBackends
    private(set) var problems: Problems

    init(
        _ node: DocumentNode, _ index: Int, _ scope: Scope, _ backends: KrakenDBackends,
        _ problems: Problems
    ) {
        self.node = node
        self.index = index
        self.scope = scope
        self.backends = backends
        self.problems = problems
    }

    /// The group; else what the list is called, or the last word of the path.
    static func name(of node: DocumentNode) -> String {
        let collection =
            node["is_collection"]?.flag == true
            ? node["mapping"]?["collection"]?.text ?? "collection" : nil
        let words = (node["url_pattern"]?.text ?? "").prefix { $0 != "?" }.split(separator: "/")
        let word = words.last { !$0.contains("{") && $0.contains(where: \.isLetter) }
        let wanted = node["group"]?.text ?? collection ?? word.map(String.init) ?? "call"
        let name = wanted.map { sign in
            sign.isASCII && (sign.isLetter || sign.isNumber || sign == "_") ? sign : "-"
        }
        let isRight = name.first?.isLetter == true && String(name) != "request"
        return isRight ? String(name) : "call-" + String(name)
    }

    private var group: String? { node["group"]?.text }
    private var isCollection: Bool { node["is_collection"]?.flag == true }
    private var extras: [DocumentNode.Member] { node["extra_config"]?.members ?? [] }
    private var http: DocumentNode? { node["extra_config"]?["backend/http"] }

    private var method: String {
        node["method"]?.text?.uppercased() ?? scope.route.method.rawValue
    }

    /// Nil, with the reason told, if it cannot be said.
    mutating func converted(forward: YAMLTree?) -> YAMLTree? {
        do throws(Refusal) {
            try checkIsPossible()
            let target = try KrakenDPattern(node["url_pattern"]?.text ?? "/", of: index, scope).text
            tellWhatIsLost()
            return .block(members(target, forward))
        } catch {
            problems.warning(
                at: error.place ?? node.place,
                "call '\(scope.names[index])' is left out: \(error.words)")
            return nil
        }
    }

    private func checkIsPossible() throws(Refusal) {
        let methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"]
        guard methods.contains(method) else {
            throw Refusal("there is no call with \(method)", at: node["method"]?.place)
        }
        let encoding = node["encoding"]?.text ?? "json"
        guard ["json", "safejson", "fast-json", "no-op"].contains(encoding) else {
            throw Refusal(
                "it answers '\(encoding)', and backends have to answer JSON",
                at: node["encoding"]?.place)
        }
        if let shadow = node["extra_config"]?["proxy"]?["shadow"], shadow.flag == true {
            throw Refusal("there is no shadow traffic", at: shadow.place)
        }
        guard !hosts.isEmpty else { throw Refusal("it has no host") }
    }

    private var hosts: [String] {
        let own = node["host"]?.texts ?? []
        return own.isEmpty ? backends.commonHosts : own
    }

    // MARK: Members

    private mutating func members(
        _ target: String, _ forward: YAMLTree?
    ) -> [(String, YAMLTree)] {
        var members: [(String, YAMLTree)] = [
            ("from", .text(backends.name(of: urls, breaker: breaker(), tls: tls))),
            (method.lowercased(), .text(target)),
        ]
        if let forward { members.append(("forward", forward)) }
        if ["POST", "PUT", "PATCH"].contains(method), scope.route.method.mayHaveBody {
            members.append(("body", .text("{request.body}")))
        }
        if http?["return_error_code"]?.flag == true {
            members.append(("required", .plain("true")))
            members.append(("relay_status", .texts(["400-599"])))
        }
        members += shape()
        if let hedge = scope.hedge, ["GET", "HEAD", "PUT", "DELETE"].contains(method) {
            members.append(("hedge", .inline([("after", .text(hedge.after.spelled))])))
        }
        if let json = scope.fallbacks[scope.names[index]] {
            members.append(("if_failed", .plain(json)))
        }
        return members
    }

    /// KrakenD applies target, allow or deny, mapping and group in the order in which we do.
    private mutating func shape() -> [(String, YAMLTree)] {
        var members: [(String, YAMLTree)] = []
        if let target = node["target"]?.text, !target.isEmpty {
            members.append(("take", .text(target)))
        }
        if isCollection {
            for key in ["allow", "deny"] where node[key] != nil {
                problems.warning(
                    at: node[key]?.place ?? node.place,
                    "'\(key)' is left out: in KrakenD it means nothing for a collection;"
                        + " 'keep: [\"[].id\"]' reaches into it")
            }
            return members
        }
        if let allow = node["allow"], !allow.texts.isEmpty {
            members.append(("keep", .texts(allow.texts)))
        } else if let deny = node["deny"], !deny.texts.isEmpty {
            members.append(("drop", .texts(deny.texts)))
        }
        let renames = (node["mapping"]?.members ?? []).compactMap { member in
            member.node.text.map { (member.key, YAMLTree.text($0)) }
        }
        if !renames.isEmpty { members.append(("rename", .inline(renames))) }
        // Without a group, KrakenD merges what came into the root.
        if group == nil { members.append(("at", .text("."))) }
        return members
    }

    // MARK: Backend

    private var urls: [String] {
        var urls: [String] = []
        for host in hosts {
            var url = host.contains("://") ? host : "http://\(host)"
            while url.hasSuffix("/") { url.removeLast() }
            if !urls.contains(url) { urls.append(url) }
        }
        return urls
    }

    /// Its own, or what is said for all.
    private var tls: YAMLTree? {
        ownTLS.map { KrakenDTLS($0).tree } ?? backends.commonTLS
    }

    private var ownTLS: DocumentNode? { client?["client_tls"] }
    private var client: DocumentNode? { node["extra_config"]?["backend/http/client"] }

    /// KrakenD counts failures in a row, we look at their share.
    private mutating func breaker() -> YAMLTree? {
        guard let member = extras.first(where: { $0.key == "qos/circuit-breaker" }) else {
            return nil
        }
        let errors = max(1, member.node["max_errors"]?.integer ?? 1)
        let window = max(1, member.node["interval"]?.integer ?? 60)
        let pause = max(1, member.node["timeout"]?.integer ?? 10)
        problems.warning(
            at: member.keyPlace,
            "'\(member.key)' opened after \(errors) failure\(errors == 1 ? "" : "s") in a row; this"
                + " breaker opens at a share of failures, and holds for all calls to the backend")
        return .inline([
            ("open_at", .text("50%")), ("min_requests", .plain("\(errors)")),
            ("window", .text("\(window)s")), ("try_again_after", .text("\(pause)s")),
        ])
    }

    // MARK: Losses

    private mutating func tellWhatIsLost() {
        for member in node.members where !Self.known.contains(member.key) {
            problems.lost(member, among: [:])
        }
        if let sd = node["sd"]?.text, sd != "static" {
            problems.warning(
                at: node["sd"]?.place ?? node.place,
                "'sd: \(sd)' is left out: names are looked up as addresses (A and AAAA), every"
                    + " 'dns_ttl'")
        }
        if node["encoding"]?.text == "no-op" {
            problems.warning(
                at: node["encoding"]?.place ?? node.place,
                "'encoding: no-op' passed everything on; here the answer has to be a JSON object")
        }
        if isCollection, group != nil {
            problems.warning(
                at: node["is_collection"]?.place ?? node.place,
                "the list stands under '\(scope.names[index])' itself, not under a 'collection'"
                    + " inside of it")
        }
        if scope.hedge != nil, ["POST", "PATCH"].contains(method) {
            problems.warning(
                at: scope.hedge?.place ?? node.place,
                "call '\(scope.names[index])' is a \(method), which is never sent twice")
        }
        for member in extras where member.key != "qos/circuit-breaker" {
            if member.key == "backend/http" { continue }
            if member.key == "proxy" || member.key == "backend/http/client" { continue }
            problems.lost(member, among: KrakenDReasons.ofExtras)
        }
        for member in node["extra_config"]?["proxy"]?.members ?? [] where member.key != "shadow" {
            problems.lost(member, among: KrakenDReasons.ofProxy)
        }
        for member in client?.members ?? [] where member.key != "client_tls" {
            problems.lost(member, among: Self.clientReasons)
        }
        if let ownTLS { KrakenDTLS(ownTLS).tellWhatIsLost(&problems) }
        for member in http?.members ?? [] where member.key != "return_error_code" {
            problems.lost(member, among: Self.reportReasons)
        }
    }

    private static let clientReasons = [
        "send_body_on_redirect": "redirects are not followed",
        "no_redirect": "redirects are never followed", "proxy_address": "there is no such proxy",
    ]

    private static let reportReasons = [
        "return_error_details": "failures are told in '_gateway' ('report')",
        "return_error_msg": "'relay_body: true' passes the body of a relayed status on",
    ]

    private static let known: Set<String> = [
        "host", "url_pattern", "method", "encoding", "group", "target", "allow", "deny", "mapping",
        "is_collection", "sd", "disable_host_sanitize", "input_headers", "input_query_strings",
        "extra_config",
    ]
}

extension Config.Method {
    /// A client may send one with it.
    fileprivate var mayHaveBody: Bool {
        switch self {
        case .get, .head, .options: false
        case .post, .put, .patch, .delete: true
        }
    }
}
