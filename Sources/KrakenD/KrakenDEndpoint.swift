import Basics
import Gateway
import YAMLReader

/// Converts one endpoint with its backends, which become its calls.
struct KrakenDEndpoint {
    /// The facts about the service that an endpoint needs.
    struct Scope {
        let timeout: Duration
        let cacheTime: Duration?
        /// The top level.
        let service: DocumentNode
        let protections: [KrakenDProtection]
        let auth: KrakenDAuth
        let trustsProxies: Bool
        /// The methods that pages of other origins may use; nil for all.
        let corsMethods: Set<String>?
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
    private var outputEncoding: DocumentNode? {
        node["output_encoding"] ?? scope.service["output_encoding"]
    }
    private var isRelayed: Bool { outputEncoding?.text == "no-op" || websocket != nil }
    private var identity: KrakenDIdentity { KrakenDIdentity(node, service: scope.service) }

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
            identity.reportLosses(
                besides: auth == nil ? [] : scope.auth.headers(of: node).map(\.name), of: node,
                &findings)
            let forward = KrakenDForward(
                headers: (websocket ?? node)["input_headers"], query: node["input_query_strings"],
                identity, trustsProxies: scope.trustsProxies, &findings)
            let isProtected = auth != nil || !protections.isEmpty
            let limitNames = limits.names(ofEndpoint: route, extras, &findings)
            var members = head(of: route, auth, limitNames)
            members +=
                passesThrough
                ? try relayedMembers(route, auth, forward, &used, &findings)
                : try calledMembers(
                    route, auth, forward, isProtected: isProtected, &used, &findings)
            backends = used
            return ImportedEndpoint(
                title: title, location: node.location,
                tree: .located(.block(members), node.location),
                backends: used.namesOfEndpoint, limits: limitNames ?? [],
                isProtected: !protections.isEmpty && !scope.opensProtected,
                reasons: reasons(protections), findings: findings)
        } catch {
            return ImportedEndpoint(
                title: title, location: node.location, refusal: error.message, at: error.location)
        }
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
        for member in extras where websocket == nil || member.key != Self.websocketExtra {
            guard let reason = KrakenDLosses.ofOtherBackends[member.key] else { continue }
            throw Refusal("it has '\(member.key)': \(reason)", at: member.keyLocation)
        }
        if let websocket, !passesThrough {
            throw Refusal(
                "a WebSocket needs one backend, whose path is one of 'proxy'",
                at: websocket.location)
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

    /// The members that both kinds of endpoints have.
    private func head(
        of route: Config.Route, _ auth: YAMLTree?, _ limits: [String]?
    ) -> [(String, YAMLTree)] {
        let location = node["endpoint"]?.location ?? node.location
        var members: [(String, YAMLTree)] = [("route", .located(.text(route.name), location))]
        // Where a configuration has authenticators, a public endpoint has to say that it is public.
        if let auth = auth ?? (scope.auth.isUsed ? .text("none") : nil) {
            members.append(("auth", auth))
        }
        if scope.corsMethods?.contains(method) == false {
            members.append(("cors", .text("none")))
        }
        if let limits { members.append(("rate_limits", .texts(limits))) }
        return members
    }

    private func calledMembers(
        _ route: Config.Route, _ auth: YAMLTree?, _ forward: KrakenDForward, isProtected: Bool,
        _ backends: inout KrakenDBackends, _ findings: inout ImportFindings
    ) throws(Refusal) -> [(String, YAMLTree)] {
        var members: [(String, YAMLTree)] = []
        if let list = node["input_headers"], forward.hasAllHeaders {
            KrakenDForward.reportAll(list, &findings)
        }
        if !forward.isEmpty { members.append(("forward", forward.tree)) }
        members += claimHeaders(auth)
        let body = body(&findings)
        if let body { members.append(("body", body)) }
        if timeout != scope.timeout { members.append(("deadline", .text(timeout.spelled))) }
        if timeout > scope.timeout { members.append(("timeout", .text(timeout.spelled))) }
        let cacheTime = node["cache_ttl"].map(\.goDuration) ?? scope.cacheTime
        if let time = cacheTime {
            members.append(
                (
                    "cache_control",
                    isProtected
                        ? privateCaching(time, &findings)
                        : cacheControl(time, forward, &findings)
                ))
        }
        let calls = try calls(of: route, forward, hasBody: body != nil, &backends, &findings)
        return members + [("calls", .block(calls))]
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
            findings.warning(
                at: member.keyLocation,
                "'\(member.key)' is left out: a \(method) has no body, and KrakenD refuses requests"
                    + " without one")
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
            (header.name, YAMLTree.text("{\(KrakenDValidator.reference(to: header.claim))?,}"))
        }
        return [("headers", .inline(headers))]
    }

    // MARK: Passing through

    /// The path of an endpoint for all requests without another one.
    private static let catchAll = "/__catchall"
    private static let websocketExtra = "websocket"

    /// The settings of a WebSocket whose bytes KrakenD passes on unchanged; nil for any other endpoint.
    private var websocket: DocumentNode? {
        let settings = node["extra_config"]?[Self.websocketExtra]
        return settings?["enable_direct_communication"]?.flag == true ? settings : nil
    }

    /// Whether the response of the only backend passes unchanged, so that nothing of it is read.
    private var passesThrough: Bool {
        guard isRelayed, let nodes = node["backend"]?.elements, nodes.count == 1 else {
            return false
        }
        let route = try? Config.Route(parsing: "\(method) \(routePath)")
        return KrakenDCall.passesThrough(nodes[0], as: route, method: method)
            && !extras.contains { $0.key == "validation/json-schema" }
    }

    /// Everything passes without `forward`: a list of query parameters beside all headers has no
    /// equivalent.
    private func relayedMembers(
        _ route: Config.Route, _ auth: YAMLTree?, _ forward: KrakenDForward,
        _ backends: inout KrakenDBackends, _ findings: inout ImportFindings
    ) throws(Refusal) -> [(String, YAMLTree)] {
        let nodes = node["backend"]?.elements ?? []
        let call = KrakenDCall(
            0,
            KrakenDCall.Scope(
                route: route, names: ["proxy"], nodes: nodes, isSequential: false, isRelayed: true,
                passesThrough: true, isWebSocket: websocket != nil, readsTokens: false, hedge: nil,
                fallbacks: [:], hasBody: false,
                lateChanges: [[]]))
        let (name, martian) = try call.proxied(&backends, &findings)
        var own = forward.narrowed(by: nodes[0]).without(martian)
        if websocket != nil, !own.hasAllHeaders { own = own.with(Self.handshake) }
        var members = KrakenDCall.headers(of: martian)
        let claims = claimHeaders(auth)
        // Without `auth`, nothing replaces these headers of the client.
        let open = claims.isEmpty ? identity.headers.map(\.name) : []
        if own.hasAllHeaders {
            if !own.hasAllQuery {
                findings.warning(
                    at: node["input_headers"]?.location ?? node.location,
                    "all query parameters are forwarded, since all headers are")
            }
            let dropped = open + martian.removed.sorted()
            if !dropped.isEmpty { members.append(("drop_headers", .texts(dropped))) }
        }
        if auth != nil, scope.auth.credentials(of: node).contains(where: own.forwards) {
            members.append(("credential", .text("pass")))
        }
        if websocket != nil { members.append(("upgrade", .texts(["websocket"]))) }
        let pattern = nodes.first?["url_pattern"]?.text ?? "/"
        let path = pattern.hasPrefix("/") ? pattern : "/" + pattern
        var proxy: [(String, YAMLTree)] = [("to", .text(name))]
        if path != route.path, path != Self.catchAll { proxy.append(("path", .text(path))) }
        proxy.append(("timeout", .text(timeout.spelled)))
        return (own.hasAllHeaders ? [] : [("forward", own.treeOfProxy)]) + claims
            + [("proxy", .inline(proxy + members))]
    }

    /// Headers of the handshake, which a list of headers has to contain.
    private static let handshake = [
        "Sec-WebSocket-Key", "Sec-WebSocket-Version", "Sec-WebSocket-Protocol",
        "Sec-WebSocket-Extensions",
    ]

    // MARK: Calls

    private func calls(
        of route: Config.Route, _ forward: KrakenDForward, hasBody: Bool,
        _ backends: inout KrakenDBackends, _ findings: inout ImportFindings
    ) throws(Refusal) -> [(String, YAMLTree)] {
        let nodes = node["backend"]?.elements ?? []
        let names = KrakenDCallNames(nodes, parameters: route.parameters, &findings).all
        let (shapes, lateChanges) = try shapes(of: nodes, &findings)
        let scope = KrakenDCall.Scope(
            route: route, names: names, nodes: nodes,
            isSequential: proxy?["sequential"]?.flag == true && nodes.count > 1,
            isRelayed: isRelayed, passesThrough: false, isWebSocket: false,
            readsTokens: scope.auth.readsTokens(node),
            hedge: hedge, fallbacks: fallbacks(names, nodes, &findings), hasBody: hasBody,
            lateChanges: lateChanges)
        var calls: [(String, YAMLTree)] = []
        for (index, node) in nodes.enumerated() {
            guard !KrakenDCall.isShadow(node) else {
                findings.warning(
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

    /// The transformations of the responses, with the endpoint's own flatmap filter, and the paths that
    /// this filter changes in each.
    private func shapes(
        of nodes: [DocumentNode], _ findings: inout ImportFindings
    ) throws(Refusal) -> (shapes: [KrakenDShape], lateChanges: [[[String]]]) {
        var shapes: [KrakenDShape] = []
        for node in nodes { shapes.append(try KrakenDShape(node, &findings)) }
        var changes: [[[String]]] = nodes.map { _ in [] }
        guard let filter = proxy?["flatmap_filter"] else { return (shapes, changes) }
        guard nodes.count > 1 else {
            findings.note(
                at: filter.location,
                "'flatmap_filter' is left out: KrakenD ignores it with one backend")
            return (shapes, changes)
        }
        let keys = nodes.map { KrakenDCallNames.key(of: $0) }
        for operation in KrakenDFlatmap.Operation.all(of: node) {
            for one in operation.parts(by: keys) {
                guard case .key(let key) = one.owner else {
                    reportLoss(of: one.operation, &findings)
                    continue
                }
                for index in keys.indices where keys[index] == key {
                    guard let inside = try inside(one.operation, of: nodes[index], key) else {
                        reportLoss(of: one.operation, &findings)
                        continue
                    }
                    try shapes[index].apply(inside, &findings)
                    // The path begins with the key of the list.
                    changes[index] +=
                        KrakenDShape.isList(nodes[index]) ? [[]] : inside.arguments
                }
            }
        }
        return (shapes, changes)
    }

    /// The operation with paths inside the response of a backend; nil for a move of the whole.
    private func inside(
        _ operation: KrakenDFlatmap.Operation, of backend: DocumentNode, _ key: String?
    ) throws(Refusal) -> KrakenDFlatmap.Operation? {
        // The key of a list without a group is the key of the list itself.
        guard key != nil, !KrakenDShape.isList(backend) || backend["group"]?.text != nil else {
            return operation
        }
        var inside = operation
        inside.arguments = operation.arguments.map { Array($0.dropFirst()) }
        guard inside.arguments.contains(where: \.isEmpty) else { return inside }
        guard operation.type != "del" else {
            throw Refusal(
                "its 'del' of a whole response cannot be expressed with 'drop'",
                at: operation.location)
        }
        return nil
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
        if !passesThrough, let node = outputEncoding, let encoding = node.text {
            reportEncoding(encoding, at: node.location, &findings)
        }
        for member in extras
        where ![
            "proxy", "validation/json-schema", KrakenDRateLimits.endpointKey, Self.websocketExtra,
        ].contains(member.key)
            && !KrakenDProtection.protects(member.key)
        {
            findings.reportLoss(of: member, among: KrakenDLosses.ofExtras)
        }
        for member in websocket?.members ?? []
        where !["enable_direct_communication", "input_headers"].contains(member.key) {
            findings.reportLoss(of: member, among: KrakenDLosses.ofWebSocket)
        }
        guard !passesThrough else { return reportLossesOfProxy(&findings) }
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

    private func reportLossesOfProxy(_ findings: inout ImportFindings) {
        for member in proxy?.members ?? [] {
            findings.note(
                at: member.keyLocation,
                "'\(member.key)' is left out: KrakenD ignores it with 'output_encoding: no-op'")
        }
        if let node = node["concurrent_calls"], let count = node.integer, count > 1 {
            findings.warning(
                at: node.location,
                "'concurrent_calls: \(count)' is left out: 'proxy' sends each request once")
        }
    }

    private func reportEncoding(
        _ encoding: String, at location: SourceLocation, _ findings: inout ImportFindings
    ) {
        switch encoding {
        case "json", "fast-json": break
        case "negotiate":
            findings.warning(
                at: location,
                "'output_encoding: negotiate' is left out: responses are JSON objects, whatever"
                    + " 'Accept' has")
        case "no-op":
            findings.warning(
                at: location,
                "'output_encoding: no-op' relayed any response with its headers; here it must be a"
                    + " JSON object, and 'relay_headers' lists the headers to relay"
                    + (reasonForCalls.map { ", because \($0)" } ?? ""))
        default:
            findings.warning(
                at: location,
                "'output_encoding: \(encoding)' is left out: responses are JSON objects")
        }
    }

    /// Why a `no-op` endpoint cannot be a `proxy`.
    private var reasonForCalls: String? {
        let nodes = node["backend"]?.elements ?? []
        if extras.contains(where: { $0.key == "validation/json-schema" }) {
            return "'validation/json-schema' needs the whole body"
        }
        guard nodes.count == 1 else { return nil }
        if nodes[0]["url_pattern"]?.text?.contains("?") == true
            || KrakenDMartian.changesQuery(nodes[0])
        {
            return "'path' of 'proxy' has no query"
        }
        if let own = nodes[0]["method"]?.text?.uppercased(), own != method {
            return "'proxy' does not change the method"
        }
        return "'path' of 'proxy' has parameters of the route only"
    }

    private static let losses: [String: ImportLoss] = [:]

    private static let known: Set<String> = [
        "endpoint", "method", "timeout", "cache_ttl", "backend", "input_headers",
        "input_query_strings", "concurrent_calls", "output_encoding", "extra_config",
    ]
}
