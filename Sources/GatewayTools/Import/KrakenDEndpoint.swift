import Basics
import GatewayConfig
import YAMLReader

/// Converts one endpoint with its backends, which become its calls.
struct KrakenDEndpoint {
    /// The facts about the service that an endpoint needs.
    struct Scope {
        let timeout: Duration
        let cacheTime: Duration?
        /// The encoding of endpoints that have none.
        let outputEncoding: DocumentNode?
        let protections: [KrakenDProtection]
        let auth: KrakenDAuth
        /// `--open-protected`
        let opensProtected: Bool
    }

    private let node: DocumentNode
    private let scope: Scope

    init(_ node: DocumentNode, _ scope: Scope) {
        self.node = node
        self.scope = scope
    }

    private var path: String { node["endpoint"]?.text ?? "" }
    private var method: String { node["method"]?.text?.uppercased() ?? "GET" }
    private var title: String { "endpoint \(method) \(path)" }
    private var timeout: Duration { node["timeout"]?.goDuration ?? scope.timeout }
    private var extras: [DocumentNode.Member] { node["extra_config"]?.members ?? [] }
    private var proxy: DocumentNode? { node["extra_config"]?["proxy"] }
    private var outputEncoding: DocumentNode? { node["output_encoding"] ?? scope.outputEncoding }
    private var isRelayed: Bool { outputEncoding?.text == "no-op" }

    /// Adds the backends and the rate limits of the endpoint, unless it cannot be expressed.
    func converted(
        _ backends: inout KrakenDBackends, _ limits: inout KrakenDRateLimits
    ) -> ImportedEndpoint {
        var findings = ImportFindings()
        let auth = scope.auth.setting(of: node, &findings)
        let protections =
            (auth == nil ? KrakenDProtection.all(ofEndpoint: node) : []) + scope.protections
        var used = backends
        used.startEndpoint()
        do throws(Refusal) {
            try checkSupport()
            let route = try route()
            reportLosses(&findings)
            let target: (String, YAMLTree) =
                passesThrough
                ? ("proxy", try proxy(of: route, &used, &findings))
                : ("calls", .block(try calls(of: route, &used, &findings)))
            backends = used
            let limitNames = limits.names(ofEndpoint: route, extras, &findings)
            return ImportedEndpoint(
                title: title, location: node.location,
                tree: .located(
                    .block(members(route, target, auth: auth, limitNames, &findings)), node.location
                ),
                backends: used.namesOfEndpoint,
                isProtected: !protections.isEmpty && !scope.opensProtected,
                reasons: reasons(protections), findings: findings)
        } catch {
            return ImportedEndpoint(
                title: title, location: node.location, refusal: error.message, at: error.location)
        }
    }

    /// The headers that are forwarded. One that has a claim is not the client's.
    private func forward(_ findings: inout ImportFindings) -> KrakenDForward {
        let claims = Set(scope.auth.headers(of: node).map { $0.name.lowercased() })
        return KrakenDForward(node, &findings).without { claims.contains($0.lowercased()) }
    }

    /// What the lost protection means for the endpoint.
    private func reasons(_ protections: [KrakenDProtection]) -> ImportFindings {
        var findings = ImportFindings()
        for protection in protections {
            let why =
                reason(for: protection).map { "cannot be converted: \($0)" } ?? "has no equivalent"
            let isOwn = !scope.protections.contains { $0.location == protection.location }
            let name =
                "'\(protection.name)'"
                + (isOwn ? "" : " of the service (line \(protection.location.line))")
            findings.warning(
                at: isOwn ? protection.location : node.location,
                scope.opensProtected
                    ? "\(title) is accessible without authentication: \(name) \(why)"
                    : "\(title) is left out: \(name) protects it and \(why);"
                        + " --open-protected writes it without protection")
        }
        return findings
    }

    /// Why the tokens of the endpoint cannot be checked in the same way.
    private func reason(for protection: KrakenDProtection) -> String? {
        protection.name == KrakenDValidator.extra
            ? scope.auth.refusal(of: node)?.message : nil
    }

    private func checkSupport() throws(Refusal) {
        for member in extras {
            guard let reason = KrakenDLosses.ofOtherBackends[member.key] else { continue }
            throw Refusal("it has '\(member.key)': \(reason)", at: member.keyLocation)
        }
    }

    private func route() throws(Refusal) -> Config.Route {
        let location = node["endpoint"]?.location
        guard passesThrough || (!path.hasSuffix("*") && path != Self.catchAll) else {
            throw Refusal(
                "its route has a wildcard, which needs 'no-op'; every segment must be named",
                at: location)
        }
        do throws(Refusal) {
            return try Config.Route(parsing: "\(method) \(routePath)")
        } catch {
            throw Refusal("its route \(error.message)", at: location)
        }
    }

    /// `/a/:id` is an older way to write `/a/{id}`.
    private var routePath: String {
        if path == Self.catchAll { return "/*" }
        return path.split(separator: "/", omittingEmptySubsequences: false)
            .map { $0.hasPrefix(":") ? "{\($0.dropFirst())}" : String($0) }
            .joined(separator: "/")
    }

    private func members(
        _ route: Config.Route, _ target: (String, YAMLTree), auth: YAMLTree?, _ limits: [String]?,
        _ findings: inout ImportFindings
    ) -> [(String, YAMLTree)] {
        let location = node["endpoint"]?.location ?? node.location
        var members: [(String, YAMLTree)] = [("route", .located(.text(route.name), location))]
        // Where a configuration has authenticators, a public endpoint has to say that it is public.
        if let auth = auth ?? (scope.auth.isUsed ? .text("none") : nil) {
            members.append(("auth", auth))
        }
        if passesThrough {
            return members + relayedMembers(auth, limits, &findings) + [target]
        }
        let forward = forward(&findings)
        if !forward.isEmpty { members.append(("forward", forward.tree)) }
        members += claimHeaders(auth)
        if let body = body(&findings) { members.append(("body", body)) }
        if timeout != scope.timeout { members.append(("deadline", .text(timeout.spelled))) }
        if timeout > scope.timeout { members.append(("timeout", .text(timeout.spelled))) }
        let cacheTime = node["cache_ttl"].map(\.goDuration) ?? scope.cacheTime
        if let time = cacheTime, method == "GET" {
            members.append(
                (
                    "cache_control",
                    auth == nil
                        ? cacheControl(time, forward, &findings)
                        : privateCaching(time, &findings)
                ))
        }
        if let limits { members.append(("rate_limits", .texts(limits))) }
        return members + [target]
    }

    /// KrakenD always writes `public`. With it, a shared cache stores the response to a request
    /// with credentials too (RFC 9111, section 3.5).
    private func cacheControl(
        _ time: Duration, _ forward: KrakenDForward, _ findings: inout ImportFindings
    ) -> YAMLTree {
        let age = "max-age=\(max(1, time.inNanoseconds / 1_000_000_000))"
        let forwards = (node["backend"]?.elements ?? []).map(forward.narrowed)
        guard let header = forwards.lazy.compactMap(\.credentials).first else {
            return .text("public, \(age)")
        }
        findings.warning(
            at: node["cache_ttl"]?.location ?? node.location,
            "'cache_ttl' became 'private' instead of 'public': a shared cache could send a response"
                + " that depends on '\(header)' to another client")
        return .text("private, \(age)")
    }

    /// Of an endpoint with an authenticator: a shared cache would send the response to every client.
    private func privateCaching(
        _ time: Duration, _ findings: inout ImportFindings
    ) -> YAMLTree {
        findings.warning(
            at: node["cache_ttl"]?.location ?? node.location,
            "'cache_ttl' became 'private' instead of 'public': a shared cache would send responses to"
                + " clients without a credential")
        return .text("private, max-age=\(max(1, time.inNanoseconds / 1_000_000_000))")
    }

    private func body(_ findings: inout ImportFindings) -> YAMLTree? {
        guard let member = extras.first(where: { $0.key == "validation/json-schema" }) else {
            return nil
        }
        guard ["POST", "PUT", "PATCH", "DELETE"].contains(method) else {
            findings.note(
                at: member.keyLocation, "'\(member.key)' is left out: a \(method) has no body")
            return nil
        }
        let schema = KrakenDBodySchema.converted(member.node, &findings)
        return .located(schema, member.keyLocation)
    }

    /// The headers with claims of the token.
    private func claimHeaders(_ auth: YAMLTree?) -> [(String, YAMLTree)] {
        let claims = scope.auth.headers(of: node)
        guard auth != nil, !claims.isEmpty else { return [] }
        let headers = claims.map { header in
            (header.name, YAMLTree.text("{\(KrakenDValidator.reference(to: header.claim))?}"))
        }
        return [("headers", .inline(headers))]
    }

    // MARK: Passing through

    /// The path of an endpoint for all requests without another one.
    private static let catchAll = "/__catchall"

    /// Whether the response of the only backend passes unchanged, so that nothing of it is read.
    private var passesThrough: Bool {
        guard isRelayed, let nodes = node["backend"]?.elements, nodes.count == 1 else {
            return false
        }
        return KrakenDCall.passesThrough(nodes[0], as: method)
            && node["concurrent_calls"] == nil && proxy == nil
            && !extras.contains { $0.key == "validation/json-schema" }
    }

    private func relayedMembers(
        _ auth: YAMLTree?, _ limits: [String]?, _ findings: inout ImportFindings
    ) -> [(String, YAMLTree)] {
        var members: [(String, YAMLTree)] = []
        if let forward = relayedForward(&findings) { members.append(("forward", forward)) }
        members += claimHeaders(auth)
        if let limits { members.append(("rate_limits", .texts(limits))) }
        return members
    }

    private func proxy(
        of route: Config.Route, _ backends: inout KrakenDBackends, _ findings: inout ImportFindings
    ) throws(Refusal) -> YAMLTree {
        let nodes = node["backend"]?.elements ?? []
        let scope = KrakenDCall.Scope(
            route: route, names: ["proxy"], nodes: nodes, isSequential: false, isRelayed: true,
            readsTokens: false,
            hedge: nil, fallbacks: [:])
        let call = KrakenDCall(0, scope)
        var members = [("to", YAMLTree.text(try call.proxiedBackend(&backends, &findings)))]
        let pattern = nodes.first?["url_pattern"]?.text ?? "/"
        let path = pattern.hasPrefix("/") ? pattern : "/" + pattern
        if path != route.path, path != Self.catchAll { members.append(("path", .text(path))) }
        members.append(("timeout", .text(timeout.spelled)))
        return .inline(members)
    }

    /// Nil for everything: a list of query parameters beside all headers has no equivalent.
    private func relayedForward(_ findings: inout ImportFindings) -> YAMLTree? {
        let headers = node["input_headers"]?.texts ?? []
        let query = node["input_query_strings"]?.texts ?? []
        guard !headers.contains("*") else {
            if !query.contains("*") {
                findings.warning(
                    at: node["input_headers"]?.location ?? node.location,
                    "all query parameters are forwarded, since all headers are")
            }
            return nil
        }
        return .inline([
            ("headers", .texts(headers.filter { (try? HeaderSyntax.check(name: $0)) != nil })),
            ("query", query.contains("*") ? .text("all") : .texts(query)),
        ])
    }

    // MARK: Calls

    private func calls(
        of route: Config.Route, _ backends: inout KrakenDBackends, _ findings: inout ImportFindings
    ) throws(Refusal) -> [(String, YAMLTree)] {
        let nodes = node["backend"]?.elements ?? []
        let names = KrakenDCallNames(nodes, parameters: route.parameters, &findings).all
        let scope = KrakenDCall.Scope(
            route: route, names: names, nodes: nodes,
            isSequential: proxy?["sequential"]?.flag == true && nodes.count > 1,
            isRelayed: isRelayed, readsTokens: scope.auth.readsTokens(node), hedge: hedge,
            fallbacks: fallbacks(names, nodes, &findings))
        let shapes = try shapes(of: nodes, &findings)
        let forward = forward(&findings)
        var calls: [(String, YAMLTree)] = []
        for (index, node) in nodes.enumerated() {
            guard !KrakenDCall.isShadow(node) else {
                findings.note(
                    at: node.location,
                    "a shadow backend is left out: shadow traffic is not supported")
                continue
            }
            do throws(Refusal) {
                let tree = try KrakenDCall(index, scope).converted(
                    shapes[index], forward: forward, &backends, &findings)
                calls.append((names[index], tree))
            } catch {
                throw Refusal(
                    "call '\(names[index])': \(error.message)", at: error.location ?? node.location)
            }
        }
        guard !calls.isEmpty else { throw Refusal("it has no backend") }
        return calls
    }

    /// The transformations of the responses, with the endpoint's own flatmap filter.
    private func shapes(
        of nodes: [DocumentNode], _ findings: inout ImportFindings
    ) throws(Refusal) -> [KrakenDShape] {
        var shapes: [KrakenDShape] = []
        for node in nodes { shapes.append(try KrakenDShape(node, &findings)) }
        guard let filter = proxy?["flatmap_filter"] else { return shapes }
        guard nodes.count > 1 else {
            findings.note(
                at: filter.location,
                "'flatmap_filter' is left out: KrakenD ignores it with one backend")
            return shapes
        }
        let keys = nodes.map { KrakenDCallNames.key(of: $0) }
        for operation in KrakenDFlatmap.Operation.all(of: node) {
            try apply(operation, to: &shapes, keys, &findings)
        }
        return shapes
    }

    /// Applies an operation within one response, or within the responses merged into the root.
    private func apply(
        _ operation: KrakenDFlatmap.Operation, to shapes: inout [KrakenDShape], _ keys: [String?],
        _ findings: inout ImportFindings
    ) throws(Refusal) {
        let owners = Set(operation.arguments.map { path in keys.firstIndex(of: path.first) })
        guard owners.count == 1, let owner = owners.first else {
            if operation.type == "del" {
                for argument in operation.arguments {
                    var one = operation
                    one.arguments = [argument]
                    try apply(one, to: &shapes, keys, &findings)
                }
                return
            }
            return reportLoss(of: operation, &findings)
        }
        guard let owner else {
            for index in keys.indices where keys[index] == nil {
                try shapes[index].apply(operation, &findings)
            }
            return
        }
        var inside = operation
        if KrakenDShape.isList((node["backend"]?.elements ?? [])[owner]),
            node["backend"]?.elements[owner]["group"]?.text == nil
        {
            // The key is that of the list itself.
        } else {
            inside.arguments = operation.arguments.map { Array($0.dropFirst()) }
        }
        guard inside.arguments.allSatisfy({ !$0.isEmpty }) else {
            guard operation.type != "del" else {
                throw Refusal(
                    "its 'del' of a whole response cannot be expressed with 'drop'",
                    at: operation.location)
            }
            return reportLoss(of: operation, &findings)
        }
        try shapes[owner].apply(inside, &findings)
    }

    private func reportLoss(
        of operation: KrakenDFlatmap.Operation, _ findings: inout ImportFindings
    ) {
        findings.warning(
            at: operation.location,
            "'\(operation.type)' between responses is left out: 'drop' and 'rename' work within one"
                + " response")
    }

    /// `concurrent_calls` sends several requests at once; a hedge sends a second one if the first
    /// is late.
    private var hedge: (after: Duration, location: SourceLocation)? {
        guard let node = node["concurrent_calls"], let count = node.integer, count > 1 else {
            return nil
        }
        let quarter = Duration.milliseconds(max(1, timeout.inNanoseconds / 4_000_000))
        return (quarter, node.location)
    }

    /// Static data of a group becomes the fallback of the call of that group.
    private func fallbacks(
        _ names: [String], _ nodes: [DocumentNode], _ findings: inout ImportFindings
    ) -> [String: String] {
        guard let data = proxy?["static"] else { return [:] }
        let strategy = data["strategy"]?.text ?? "always"
        guard ["errored", "incomplete"].contains(strategy) else {
            findings.warning(
                at: data.location,
                "'static' with the strategy '\(strategy)' is left out: a response contains only the"
                    + " results of calls; 'if_failed' is the value of a failed call")
            return [:]
        }
        var fallbacks: [String: String] = [:]
        for member in data["data"]?.members ?? [] {
            if let index = nodes.firstIndex(where: { KrakenDCallNames.key(of: $0) == member.key }) {
                fallbacks[names[index]] = member.node.json
            } else {
                findings.warning(
                    at: member.keyLocation,
                    "'\(member.key)' of 'static' is left out: there is no group of that name")
            }
        }
        return fallbacks
    }

    // MARK: Losses

    private func reportLosses(_ findings: inout ImportFindings) {
        for member in node.members where !Self.known.contains(member.key) {
            findings.reportLoss(of: member, among: Self.losses)
        }
        if !passesThrough, let node = outputEncoding, let encoding = node.text,
            !["json", "fast-json", "negotiate"].contains(encoding)
        {
            findings.warning(
                at: node.location,
                isRelayed
                    ? "'output_encoding: no-op' relayed any response with its headers; here it must be a"
                        + " JSON object, and 'relay_headers' lists the headers to relay"
                    : "'output_encoding: \(encoding)' is left out: responses are JSON objects")
        }
        for member in extras
        where !["proxy", "validation/json-schema", KrakenDRateLimits.endpointKey].contains(
            member.key)
            && !KrakenDProtection.protects(member.key)
        {
            findings.reportLoss(of: member, among: KrakenDLosses.ofExtras)
        }
        for member in proxy?.members ?? []
        where ![
            "sequential", "static", "sequential_propagated_params", "flatmap_filter", "shadow",
        ].contains(member.key) {
            findings.reportLoss(of: member, among: KrakenDLosses.ofProxy)
        }
        if let node = node["concurrent_calls"], let count = node.integer, count > 1 {
            findings.note(
                at: node.location,
                "'concurrent_calls: \(count)' became a hedge: a second request if the first is late;"
                    + " 'after' sets the delay")
        }
    }

    private static let losses: [String: ImportLoss] = [:]

    private static let known: Set<String> = [
        "endpoint", "method", "timeout", "cache_ttl", "backend", "input_headers",
        "input_query_strings", "concurrent_calls", "output_encoding", "extra_config",
    ]
}
