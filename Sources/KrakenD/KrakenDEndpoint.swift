import Basics
import Gateway
import YAMLReader

/// Converts one endpoint: to a `proxy`, or to the calls that its backends become.
struct KrakenDEndpoint {
    let node: DocumentNode
    private let service: KrakenDService
    let findings = ImportFindings()
    let method: String
    let backends: [DocumentNode]
    /// The check of callers that the result has.
    private let access: KrakenDAuth.Access?
    /// The extensions of KrakenD that protect it, without the check that the result has.
    private let protections: [KrakenDProtection]
    private let identity: KrakenDIdentity
    /// The settings of a WebSocket whose bytes KrakenD passes on unchanged; nil for any other endpoint.
    private let websocket: DocumentNode?

    init(_ node: DocumentNode, _ service: KrakenDService) {
        self.node = node
        self.service = service
        method = node["method"]?.text?.uppercased() ?? "GET"
        backends = node["backend"]?.elements ?? []
        access = service.auth.access(to: node)
        protections =
            (access == nil ? KrakenDProtection.all(ofEndpoint: node) : []) + service.protections
        identity = KrakenDIdentity(node, service: service.root)
        let socket = node.extra(KrakenDExtra.websocket)?.node
        websocket = socket?.has("enable_direct_communication") == true ? socket : nil
    }

    private var path: String { node["endpoint"]?.text ?? "" }
    private var title: String { "endpoint \(method) \(path)" }
    private var timeout: Duration { node["timeout"]?.goDuration ?? service.timeout }
    private var proxy: DocumentNode? { node.extra("proxy")?.node }
    private var hasSchema: Bool { node.extra(KrakenDExtra.jsonSchema) != nil }
    private var outputEncoding: DocumentNode? {
        node["output_encoding"] ?? service.root["output_encoding"]
    }

    /// `output_encoding: no-op`
    var isRelayed: Bool { outputEncoding?.text == "no-op" || isWebSocket }
    var isWebSocket: Bool { websocket != nil }
    /// Whether the endpoint has tokens, so that `{JWT.sub}` is a claim.
    var hasTokens: Bool { access?.hasTokens == true }
    var isSequential: Bool { proxy?.has("sequential") == true && backends.count > 1 }

    /// Adds the backends and the rate limits of the endpoint, unless it cannot be expressed.
    func converted() -> ImportedEndpoint {
        var endpoint = ImportedEndpoint(title: title, location: node.location)
        let backends = service.backends
        service.backends.startEndpoint()
        do throws(Refusal) {
            try convert(to: &endpoint)
        } catch {
            service.backends = backends
            endpoint.leaveOut(error.message, at: error.location)
        }
        return endpoint
    }

    private func convert(to endpoint: inout ImportedEndpoint) throws(Refusal) {
        try checkSupport()
        let route = try route()
        if let access { findings.add(access.findings) }
        reportLosses()
        let claims = access?.headers ?? []
        identity.reportLosses(except: claims.map(\.name), of: node, findings)
        let forward = KrakenDForward(
            headers: (websocket ?? node)["input_headers"], query: node["input_query_strings"],
            identity, trustsProxies: service.trustsProxies, findings)
        let limits = service.limits.names(ofEndpoint: node, route, findings)
        let isWithoutCORS = service.corsMethods?.contains(method) == false
        // Where a configuration has authenticators, a public endpoint has to say that it is public.
        let open = service.auth.isUsed ? YAMLTree.text("none") : nil
        let headers = claims.map { header in
            (header.name, YAMLTree.text("{\(KrakenDValidator.reference(to: header.claim))?,}"))
        }
        let members: [(String, YAMLTree?)] =
            [
                ("route", .located(.text(route.name), node.location(of: "endpoint"))),
                ("auth", access?.setting ?? open), ("cors", isWithoutCORS ? .text("none") : nil),
                ("rate_limits", limits.map(YAMLTree.texts)),
            ]
            + (passesThrough
                ? try proxyMembers(route, forward, .inline(unlessEmpty: headers))
                : try callMembers(route, forward, .inline(unlessEmpty: headers)))
        endpoint.tree = .located(.block(YAMLTree.members(members)), node.location)
        endpoint.backends = service.backends.namesOfEndpoint
        endpoint.limits = Set(limits ?? [])
        endpoint.isProtected = !protections.isEmpty && !service.opensProtected
        endpoint.reasons = reasons()
        endpoint.findings = findings
    }

    /// What the lost protection means for the endpoint.
    private func reasons() -> ImportFindings {
        let findings = ImportFindings()
        for protection in protections {
            let refusal =
                protection.name == KrakenDExtra.validator ? service.auth.refusal(of: node) : nil
            let why = refusal.map { "cannot be converted: \($0.message)" } ?? "has no equivalent"
            let isOwn = !service.protections.contains { $0.location == protection.location }
            let name =
                "'\(protection.name)'"
                + (isOwn ? "" : " of the service (line \(protection.location.line))")
            findings.warning(
                at: isOwn ? protection.location : node.location,
                service.opensProtected
                    ? "\(title) is accessible without authentication: \(name) \(why)"
                    : "\(title) is left out: \(name) protects it and \(why);"
                        + " --open-protected writes it without protection")
        }
        return findings
    }

    private func checkSupport() throws(Refusal) {
        for member in node.extras where websocket == nil || member.key != KrakenDExtra.websocket {
            guard let reason = KrakenDTable.extras.refusal(of: member.key) else { continue }
            throw Refusal("it has '\(member.key)': \(reason)", at: member.keyLocation)
        }
        if let websocket, !passesThrough {
            throw Refusal(
                "a WebSocket needs one backend, whose path is one of 'proxy'",
                at: websocket.location)
        }
    }

    /// The path of an endpoint for all requests without another one.
    private static let catchAll = "/__catchall"

    private func route() throws(Refusal) -> Config.Route {
        let location = node["endpoint"]?.location
        guard passesThrough || (!path.hasSuffix("*") && path != Self.catchAll) else {
            throw Refusal(
                "its route has a wildcard, which needs 'no-op'; every segment must be named",
                at: location)
        }
        do throws(Refusal) {
            return try parsedRoute()
        } catch {
            throw Refusal("its route \(error.message)", at: location)
        }
    }

    /// `/a/:id` is an older way to write `/a/{id}`.
    private func parsedRoute() throws(Refusal) -> Config.Route {
        let segments = path.split(separator: "/", omittingEmptySubsequences: false)
            .map { $0.hasPrefix(":") ? "{\($0.dropFirst())}" : String($0) }
        let path = path == Self.catchAll ? "/*" : segments.joined(separator: "/")
        return try Config.Route(parsing: "\(method) \(path)")
    }

    // MARK: Passing through

    /// Whether the response of the only backend passes unchanged, so that nothing of it is read.
    var passesThrough: Bool { isRelayed && passing.isPossible }

    /// Whether `proxy` can express the request; if not, the reason, unless there are several backends.
    private var passing: (isPossible: Bool, obstacle: String?) {
        if hasSchema { return (false, "'validation/json-schema' needs the whole body") }
        guard backends.count == 1 else { return (false, nil) }
        let pattern = backends[0]["url_pattern"]?.text ?? "/"
        if pattern.contains("?") || KrakenDMartian.changesQuery(backends[0]) {
            return (false, "'path' of 'proxy' has no query")
        }
        if let own = backends[0]["method"]?.text?.uppercased(), own != method {
            return (false, "'proxy' does not change the method")
        }
        let names = pattern.split(separator: "{").dropFirst().map { $0.prefix { $0 != "}" } }
        let parameters = (try? parsedRoute())?.parameters
        guard names.allSatisfy({ parameters?.contains(String($0)) != false }),
            !KrakenDCall.isShadow(backends[0])
        else { return (false, "'path' of 'proxy' has parameters of the route only") }
        return (true, nil)
    }

    /// Headers of the handshake, which a list of headers has to contain.
    private static let handshake = [
        "Sec-WebSocket-Key", "Sec-WebSocket-Version", "Sec-WebSocket-Protocol",
        "Sec-WebSocket-Extensions",
    ]

    /// Everything passes without `forward`: a list of query parameters beside all headers has no
    /// equivalent.
    private func proxyMembers(
        _ route: Config.Route, _ forward: KrakenDForward, _ claims: YAMLTree?
    ) throws(Refusal) -> [(String, YAMLTree?)] {
        let scope = KrakenDCall.Scope(endpoint: self, route: route, names: ["proxy"])
        let (name, martian) = try KrakenDCall(0, scope).proxied(&service.backends)
        var own = forward.narrowed(by: backends[0]).without(martian)
        if isWebSocket, !own.hasAllHeaders { own = own.with(Self.handshake) }
        var dropped: [String] = []
        if own.hasAllHeaders {
            if !own.hasAllQuery {
                findings.warning(
                    at: node.location(of: "input_headers"),
                    "all query parameters are forwarded, since all headers are")
            }
            // Without `auth`, nothing replaces these headers of the client.
            dropped = (claims == nil ? identity.headers.map(\.name) : []) + martian.removed.sorted()
        }
        let sendsCredential = access?.credentials.contains(where: own.forwards) == true
        let pattern = backends[0]["url_pattern"]?.text ?? "/"
        let path = pattern.hasPrefix("/") ? pattern : "/" + pattern
        let isSamePath = path == route.path || path == Self.catchAll
        var proxy: [(String, YAMLTree?)] = [
            ("to", .text(name)), ("path", isSamePath ? nil : .text(path)),
            ("timeout", .duration(timeout)),
        ]
        proxy += KrakenDCall.headers(of: martian)
        proxy += [
            ("drop_headers", .texts(unlessEmpty: dropped)),
            ("credential", sendsCredential ? .text("pass") : nil),
            ("upgrade", isWebSocket ? .texts(["websocket"]) : nil),
        ]
        return [
            ("forward", own.hasAllHeaders ? nil : own.treeOfProxy), ("headers", claims),
            ("proxy", .inline(YAMLTree.members(proxy))),
        ]
    }

    // MARK: Calls

    private func callMembers(
        _ route: Config.Route, _ forward: KrakenDForward, _ claims: YAMLTree?
    ) throws(Refusal) -> [(String, YAMLTree?)] {
        if let list = node["input_headers"], forward.hasAllHeaders {
            findings.warning(
                at: list.location,
                "'*' is left out: only listed headers are forwarded; list their names")
        }
        let body = body()
        let cacheTime = (node["cache_ttl"] ?? service.root["cache_ttl"])?.goDuration
        let members: [(String, YAMLTree?)] = [
            ("forward", forward.isEmpty ? nil : forward.tree), ("headers", claims),
            ("body", body),
            ("deadline", timeout == service.timeout ? nil : .duration(timeout)),
            ("timeout", timeout > service.timeout ? .duration(timeout) : nil),
            ("cache_control", cacheTime.map { cacheControl($0, forward) }),
        ]
        let names = KrakenDCallNames(backends, parameters: route.parameters, findings).all
        var respond = KrakenDRespond(node, backends, names)
        let calls = try calls(route, forward, names, &respond, hasBody: body != nil)
        return members + [("calls", .block(calls)), ("respond", respond.tree)]
    }

    /// KrakenD always writes `public`. With it, a shared cache sends the response to every client, and
    /// stores it for a request with credentials too (RFC 9111, section 3.5).
    private func cacheControl(_ time: Duration, _ forward: KrakenDForward) -> YAMLTree {
        let age = "max-age=\(max(1, time.inNanoseconds / 1_000_000_000))"
        let credentials = backends.lazy.compactMap { forward.narrowed(by: $0).credentials }.first
        let risk: String
        if access != nil || !protections.isEmpty {
            risk = "would send responses to clients without a credential"
        } else if let credentials {
            risk = "could send a response that depends on '\(credentials)' to another client"
        } else {
            return .text("public, \(age)")
        }
        findings.warning(
            at: node.location(of: "cache_ttl"),
            "'cache_ttl' became 'private' instead of 'public': a shared cache \(risk)")
        return .text("private, \(age)")
    }

    private func body() -> YAMLTree? {
        guard let member = node.extra(KrakenDExtra.jsonSchema) else { return nil }
        guard ["POST", "PUT", "PATCH", "DELETE"].contains(method) else {
            findings.reportLoss(
                of: member, .warning,
                "a \(method) has no body, and KrakenD refuses requests without one")
            return nil
        }
        return .located(KrakenDBodySchema.converted(member.node, findings), member.keyLocation)
    }

    private func calls(
        _ route: Config.Route, _ forward: KrakenDForward, _ names: [String],
        _ respond: inout KrakenDRespond, hasBody: Bool
    ) throws(Refusal) -> YAMLMembers {
        let (shapes, lateChanges) = try shapes(&respond)
        let scope = KrakenDCall.Scope(
            endpoint: self, route: route, names: names, fallbacks: fallbacks(names, &respond),
            lists: respond.lists, hasBody: hasBody, lateChanges: lateChanges)
        var calls: YAMLMembers = []
        for (index, backend) in backends.enumerated() {
            guard !KrakenDCall.isShadow(backend) else {
                findings.warning(
                    at: backend.location,
                    "a shadow backend is left out: shadow traffic is not supported")
                continue
            }
            do throws(Refusal) {
                let tree = try KrakenDCall(index, scope).converted(
                    shapes[index], forward: forward, &service.backends)
                calls.append((names[index], tree))
            } catch {
                throw Refusal(
                    "call '\(names[index])': \(error.message)",
                    at: error.location ?? backend.location)
            }
        }
        guard !calls.isEmpty else { throw Refusal("it has no backend") }
        return calls
    }

    /// The transformations of the responses, with the endpoint's own flatmap filter, and the paths that
    /// this filter changes in each.
    private func shapes(
        _ respond: inout KrakenDRespond
    ) throws(Refusal) -> ([KrakenDShape], lateChanges: [[[String]]]) {
        var shapes: [KrakenDShape] = []
        for backend in backends { shapes.append(try KrakenDShape(backend, findings)) }
        var changes: [[[String]]] = backends.map { _ in [] }
        guard let filter = proxy?["flatmap_filter"] else { return (shapes, changes) }
        guard backends.count > 1 else {
            findings.note(
                at: filter.location,
                "'flatmap_filter' is left out: KrakenD ignores it with one backend")
            return (shapes, changes)
        }
        let keys = backends.map { KrakenDCallNames.key(of: $0) }
        for operation in KrakenDFlatmap.Operation.all(of: node) {
            if respond.follows(operation) {
                try reportLate(operation)
                continue
            }
            if respond.apply(operation) { continue }
            for (part, owner) in operation.parts(by: keys) {
                guard case .key(let key) = owner else {
                    reportLoss(of: part)
                    continue
                }
                for index in keys.indices where keys[index] == key {
                    guard let inside = try inside(part, of: backends[index], key) else {
                        reportLoss(of: part)
                        continue
                    }
                    try shapes[index].apply(inside, findings)
                    // The path begins with the key of the list.
                    changes[index] +=
                        KrakenDShape.isList(backends[index]) ? [[]] : inside.arguments
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

    private func reportLoss(of operation: KrakenDFlatmap.Operation) {
        findings.warning(
            at: operation.location,
            "'\(operation.type)' between responses is left out: 'respond' moves one value of a group to"
                + " a new key, and appends one list of a backend to another")
    }

    /// An operation on a value that another one has moved before.
    private func reportLate(_ operation: KrakenDFlatmap.Operation) throws(Refusal) {
        guard operation.type != "del" else {
            throw Refusal(
                "its 'del' follows a move of the same value, so clients would see what it deletes",
                at: operation.location)
        }
        reportLoss(of: operation)
    }

    /// `concurrent_calls` with several requests at once.
    private var concurrentCalls: (count: Int, location: SourceLocation)? {
        guard let node = node["concurrent_calls"], let count = node.integer, count > 1 else {
            return nil
        }
        return (count, node.location)
    }

    /// A hedge sends a second request if the first is late.
    var hedge: (after: Duration, location: SourceLocation)? {
        concurrentCalls.map {
            (.milliseconds(max(1, timeout.inNanoseconds / 4_000_000)), $0.location)
        }
    }

    /// Static data of a group becomes the fallback of the call of that group, or a member of each response.
    private func fallbacks(
        _ names: [String], _ respond: inout KrakenDRespond
    ) -> [String: String] {
        guard let data = proxy?["static"] else { return [:] }
        let strategy = data["strategy"]?.text ?? "always"
        guard ["errored", "incomplete"].contains(strategy) else {
            respond.addStatic(data, strategy, findings)
            return [:]
        }
        var fallbacks: [String: String] = [:]
        for member in data["data"]?.members ?? [] {
            let index = backends.firstIndex { KrakenDCallNames.key(of: $0) == member.key }
            if let index {
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

    private func reportLosses() {
        KrakenDTable.endpoint.report(node, findings)
        if !passesThrough { reportEncoding() }
        KrakenDTable.extrasOfEndpoint.report(node["extra_config"], findings) {
            !KrakenDProtection.protects($0.key)
        }
        KrakenDTable.websocket.report(websocket, findings)
        if passesThrough {
            for member in proxy?.members ?? [] {
                findings.reportLoss(
                    of: member, .note, "KrakenD ignores it with 'output_encoding: no-op'")
            }
        } else {
            KrakenDTable.proxy.report(proxy, findings)
        }
        guard let (count, location) = concurrentCalls else { return }
        if passesThrough {
            findings.warning(
                at: location,
                "'concurrent_calls: \(count)' is left out: 'proxy' sends each request once")
        } else {
            findings.note(
                at: location,
                "'concurrent_calls: \(count)' became a hedge: a second request if the first is late;"
                    + " 'after' sets the delay")
        }
    }

    private func reportEncoding() {
        guard let node = outputEncoding, let encoding = node.text else { return }
        let difference: String
        switch encoding {
        case "json", "fast-json": return
        case "negotiate":
            difference = "is left out: responses are JSON objects, whatever 'Accept' has"
        case "no-op":
            difference =
                "relayed any response with its headers; here it must be a JSON object, and"
                + " 'relay_headers' lists the headers to relay"
                + (passing.obstacle.map { ", because \($0)" } ?? "")
        default: difference = "is left out: responses are JSON objects"
        }
        findings.warning(at: node.location, "'output_encoding: \(encoding)' \(difference)")
    }
}
