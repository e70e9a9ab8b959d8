/// The text of a drawn configuration.
struct ConfigText {
    private var lines: [String] = []

    static func of(_ config: DrawnConfig) -> String {
        var text = ConfigText()
        text.write(config)
        return text.lines.joined(separator: "\n") + "\n"
    }

    mutating func add(_ depth: Int, _ line: String) {
        lines.append(String(repeating: "  ", count: depth) + line)
    }

    /// Adds a line if there is a value.
    mutating func add<Value>(
        _ depth: Int, _ key: String, _ value: Value?, _ unit: String = ""
    ) {
        if let value { add(depth, "\(key): \(value)\(unit)") }
    }

    private mutating func write(_ config: DrawnConfig) {
        add(0, "version: 1")
        let plain =
            config.listensOnUnixSocket ? "\"unix:/run/tributary.sock\"" : "127.0.0.1:8080"
        let address =
            config.acceptsHTTP2 ? "{ address: \(plain), protocols: [http2, http1] }" : plain
        add(0, "listen\(config.listeners.isEmpty ? ": \(address)" : ":")")
        if !config.listeners.isEmpty { add(1, "- \(address)") }
        for listener in config.listeners { add(1, "- \(listener.written)") }
        add(0, "workers: \(config.workers)")
        add(0, "drain: { timeout: \(config.drainTimeout)ms }")
        write(config.limits)
        writeEntry(config)
        if !config.rateLimits.isEmpty { add(0, "rate_limits:") }
        for limit in config.rateLimits { write(limit) }
        add(0, "backends:")
        for backend in config.backends { write(backend) }
        for backend in config.streamBackends { write(backend) }
        add(0, "endpoints:")
        for endpoint in config.endpoints {
            if let proxy = endpoint.proxy {
                write(endpoint, with: proxy, config)
            } else {
                write(endpoint, config)
            }
        }
    }

    private mutating func writeEntry(_ config: DrawnConfig) {
        let (entry, auth) = (config.entry, config.auth)
        if let clients = entry.clients {
            var lists = ["trusted_proxies: [127.0.0.1, unix]"]
            if !clients.allow.isEmpty { lists.append("allow: \(flow(clients.allow))") }
            if !clients.deny.isEmpty { lists.append("deny: \(flow(clients.deny))") }
            add(0, "clients: { \(lists.joined(separator: ", ")) }")
        }
        if !entry.hosts.isEmpty { add(0, "hosts: \(flow(entry.hosts))") }
        if entry.deniesAgents { add(0, "user_agents: { deny: [\".*-bot/.*\"] }") }
        add(0, "security_headers", entry.securityHeaders)
        write(0, entry.headers)
        if let auth { write(auth, config.authFailures) }
        let defaults =
            (entry.cors.map { ["cors: \(text(of: $0))"] } ?? [])
            + (auth.map { ["auth: \($0.authenticators[0].name)"] } ?? [])
        if !defaults.isEmpty { add(0, "defaults: { \(defaults.joined(separator: ", ")) }") }
    }

    private mutating func write(_ auth: DrawnAuth, _ failures: DrawnAuthFailures) {
        switch failures {
        case .off: add(0, "auth_failures: off")
        case .byDefault: break
        case .limited(let rate): add(0, "auth_failures: \(rate.written)")
        }
        add(0, "auth:")
        for authenticator in auth.authenticators {
            add(1, "\(authenticator.name): { \(authenticator.method) }")
        }
    }

    private mutating func write(_ auth: DrawnEndpointAuth, of endpoint: DrawnEndpoint) {
        let names = flow(auth.kinds.map(\.rawValue))
        if auth.isInherited { return }
        if auth.kinds.isEmpty { return add(2, "auth: none") }
        var demands: [String] = []
        if !auth.scopes.isEmpty { demands.append("scopes: \(flow(auth.scopes))") }
        if !auth.requirements.isEmpty {
            let conditions = auth.requirements.map { $0.written(in: endpoint) }
            demands.append("require: \(flow(conditions))")
        }
        add(
            2,
            demands.isEmpty
                ? "auth: \(names)"
                : "auth: { any: \(names), \(demands.joined(separator: ", ")) }")
    }

    private mutating func write(_ limit: DrawnRateLimit) {
        let key: String? =
            switch limit.key {
            case nil: nil
            case .address: "address"
            case .tenant: "\"{request.header.X-Tenant}\""
            case .language: "\"{lang}\""
            }
        add(
            1,
            "\(limit.name): { rate: \(limit.rate.written), burst: \(limit.burst)\(key.map { ", key: \($0)" } ?? "") }"
        )
    }

    private mutating func write(
        _ uses: [DrawnLimitUse], _ limits: [DrawnRateLimit], of endpoint: DrawnEndpoint
    ) {
        guard !uses.isEmpty else { return }
        let entries = uses.map { use in
            let name = limits[use.limit].name
            guard use.cost > 1 || use.when != nil else { return name }
            let when = use.when.map { ", when: \($0.written(in: endpoint))" } ?? ""
            return "{ limit: \(name), cost: \(use.cost)\(when) }"
        }
        add(2, "rate_limits: \(flow(entries))")
    }

    private mutating func write(_ entry: DrawnEndpointEntry) {
        if !entry.deny.isEmpty { add(2, "clients: { deny: \(flow(entry.deny)) }") }
        write(2, entry.headers)
        switch entry.cors {
        case .inherited: break
        case .none: add(2, "cors: none")
        case .own(let cors): add(2, "cors: \(text(of: cors))")
        }
    }

    private mutating func write(_ depth: Int, _ headers: [DrawnHeader]) {
        guard !headers.isEmpty else { return }
        let lines = headers.map { "\($0.name): \($0.value)" }.joined(separator: ", ")
        add(depth, "response_headers: { \(lines) }")
    }

    func flow(_ items: [String]) -> String { "[\(items.joined(separator: ", "))]" }

    private func text(of cors: DrawnCORS) -> String {
        var keys = ["origins: \(cors.origins)", "max_age: \(cors.maxAge)s"]
        if !cors.headers.isEmpty { keys.append("headers: \(cors.headers)") }
        if !cors.expose.isEmpty { keys.append("expose: \(cors.expose)") }
        if cors.hasCredentials { keys.append("credentials: true") }
        return "{ \(keys.joined(separator: ", ")) }"
    }

    private mutating func write(_ limits: DrawnLimits) {
        add(0, "limits:")
        add(1, "connections", limits.connections ?? 10_000)
        add(1, "connections_per_client", limits.connectionsPerClient)
        add(1, "requests_in_flight", limits.requestsInFlight)
        add(1, "streams", limits.streams)
        add(1, "streams_per_connection", limits.streamsPerConnection)
        add(1, "header_bytes", limits.headerBytes, "B")
        add(1, "header_count", limits.headerCount)
        add(1, "uri_bytes", limits.uriBytes, "B")
        add(1, "header_timeout", limits.headerTimeout, "ms")
        add(1, "body_timeout", limits.bodyTimeout, "ms")
        add(1, "write_timeout", limits.writeTimeout, "ms")
        add(1, "idle_timeout", limits.idleTimeout, "ms")
        add(1, "buffered_bytes", limits.bufferedBytes, "B")
    }

    private mutating func write(_ backend: DrawnBackend) {
        add(1, "\(backend.name):")
        let scheme = backend.tls == nil ? "http" : "https"
        let urls = backend.hosts.map { "\"\(scheme)://\($0.host):\($0.port)\($0.prefix)\"" }
        add(2, urls.count == 1 ? "url: \(urls[0])" : "urls: [\(urls.joined(separator: ", "))]")
        if let header = backend.header { add(2, "headers: { X-Backend: \"\(header)\" }") }
        add(2, "connect_timeout", backend.connectTimeout, "ms")
        add(2, "max_concurrent", backend.maxConcurrent)
        if let queue = backend.queue {
            add(2, "queue: { size: \(queue.size), wait: \(queue.wait)ms }")
        }
        if let breaker = backend.breaker {
            add(2, "breaker: \(breaker.written)")
        }
        if let isRoundRobin = backend.isRoundRobin {
            add(2, "balance: \(isRoundRobin ? "round_robin" : "least_requests")")
        }
        if let keepalive = backend.keepalive {
            add(
                2,
                "keepalive: { max_idle: \(keepalive.maxIdle), idle_timeout: \(keepalive.idleTimeout)ms }"
            )
        }
        add(2, "dns_ttl", backend.dnsTTL, "ms")
        if let eject = backend.eject {
            add(2, "eject: { after: \(eject.after), for: \(eject.duration)ms }")
        }
        if let tls = backend.tls {
            let trust = tls.verifies ? "ca: \(DrawnTLS.authorityFile)" : "verify: false"
            let name = tls.serverName.map { ", server_name: \($0)" } ?? ""
            add(2, "tls: { \(trust)\(name) }")
        }
        if let http2 = backend.http2 {
            add(2, "protocol: http2")
            add(2, "http2: \(http2.written)")
        }
        if let health = backend.health {
            add(2, "health: { path: \(health.path), every: \(health.every)ms }")
        }
    }

    private mutating func write(_ endpoint: DrawnEndpoint, _ config: DrawnConfig) {
        add(1, "- route: \(endpoint.method) \(endpoint.routePath)")
        let declared = endpoint.params.filter(\.isDeclared)
        if !declared.isEmpty { add(2, "params:") }
        for param in declared { add(3, "\(param.name): { \(param.rules) }") }
        if let body = endpoint.body {
            let max = body.max.map { ", max: \($0)B" } ?? ""
            let others = endpoint.input.refusesUnknownFields ? ", unknown_fields: refuse" : ""
            add(
                2,
                "body: { type: object, required: [user], properties: { user: { type: string } }\(max)\(others) }"
            )
        }
        writeForward(
            2, endpoint.forwardHeaders, endpoint.forwardQuery, all: endpoint.forwardsAllQuery)
        add(2, "deadline", endpoint.deadline, "ms")
        add(2, "timeout", endpoint.timeout, "ms")
        add(2, "min_duration", endpoint.minDuration, "ms")
        add(2, "round_up_to", endpoint.roundUpTo, "ms")
        add(2, "succeed_when", endpoint.succeedWhen?.rawValue)
        add(2, "report", endpoint.report?.rawValue)
        if endpoint.exposesDetails { add(2, "expose: details") }
        add(2, "partial_status", endpoint.partialStatus)
        add(2, "cache_control", endpoint.cacheControl)
        if endpoint.serverTiming { add(2, "server_timing: true") }
        add(2, "max_in_flight", endpoint.maxInFlight)
        add(2, "max_body", endpoint.maxBody, "B")
        writeAdmission(of: endpoint, config)
        write(endpoint.input, endpoint)
        add(2, "calls:")
        for call in endpoint.calls { write(call, endpoint, config) }
    }

    /// What decides about a request before it is served, and the headers of its response.
    mutating func writeAdmission(of endpoint: DrawnEndpoint, _ config: DrawnConfig) {
        write(endpoint.entry)
        write(endpoint.limitUses, config.rateLimits, of: endpoint)
        if let auth = endpoint.auth { write(auth, of: endpoint) }
    }

    private mutating func write(_ input: DrawnInput, _ endpoint: DrawnEndpoint) {
        if !input.contentTypes.isEmpty { add(2, "content_types: \(flow(input.contentTypes))") }
        if endpoint.refusesUnknownQuery { add(2, "unknown_query: refuse") }
        switch input.sharedHeader {
        case .constant(let text): add(2, "headers: { X-Shared: \(text) }")
        case .header(let name): add(2, "headers: { X-Shared: \"{request.header.\(name)?}\" }")
        case nil: break
        }
    }

    mutating func writeForward(
        _ depth: Int, _ headers: [String], _ query: [String], all: Bool = false
    ) {
        guard !headers.isEmpty || !query.isEmpty || all else { return }
        var lists = [("headers", headers), ("query", all ? [] : query)].filter { !$0.1.isEmpty }
            .map { "\($0.0): [\($0.1.joined(separator: ", "))]" }
        if all { lists.append("query: all") }
        add(depth, "forward: { \(lists.joined(separator: ", ")) }")
    }

    private mutating func write(
        _ call: DrawnCall, _ endpoint: DrawnEndpoint, _ config: DrawnConfig
    ) {
        func reference(_ use: DrawnUse) -> String { use.written(in: endpoint) }
        add(3, "\(call.name):")
        add(4, "from: \(config.backends[call.backend].name)")
        add(4, "\(call.method.lowercased()): \"\(call.target(of: endpoint, config, reference))\"")
        var headers = endpoint.isProtected ? ["X-Caller: \"{request.caller}\""] : []
        for (index, use) in call.uses.enumerated() where use.place == .header {
            headers.append("X-U\(index): \"\(reference(use))\"")
        }
        if call.replacesSharedHeader { headers.append("x-shared: \(call.name)") }
        if !headers.isEmpty { add(4, "headers: { \(headers.joined(separator: ", ")) }") }
        if !call.after.isEmpty {
            let names = call.after.map { endpoint.calls[$0].name }
            add(4, "after: [\(names.joined(separator: ", "))]")
        }
        if call.sendsBody { add(4, "body: \"{request.body}\"") }
        if let forward = call.forwardHeaders { writeForward(4, forward, []) }
        if call.isRequired { add(4, "required: true") }
        add(4, "timeout", call.timeout, "ms")
        add(4, "accept", call.accept?.listed)
        add(4, "relay_status", call.relayStatus?.listed)
        if call.relaysBody { add(4, "relay_body: true") }
        if !call.relayHeaders.isEmpty { add(4, "relay_headers: \(call.relayHeaders)") }
        if let retry = call.retry {
            add(4, "retry: \(retry.written)")
        }
        if let after = call.hedgeAfter { add(4, "hedge: { after: \(after)ms }") }
        write(call.shape)
        if call.isAtRoot { add(4, "at: .") }
        if call.failsOnCollision { add(4, "on_collision: fail") }
        switch call.ifFailed {
        case .omit: add(4, "if_failed: omit")
        case .value(let json): add(4, "if_failed: \(json)")
        case nil: break
        }
        if let when = call.when { add(4, "when: \(when.written(in: endpoint))") }
    }

    private mutating func write(_ shape: DrawnShape) {
        if let take = shape.take { add(4, "take: \"\(take)\"") }
        if let keep = shape.keep { add(4, "keep: \(keep)") }
        if !shape.drop.isEmpty { add(4, "drop: \(shape.drop)") }
        if !shape.rename.isEmpty {
            let pairs = shape.rename.map { "\"\($0.path)\": \($0.name)" }
            add(4, "rename: { \(pairs.joined(separator: ", ")) }")
        }
    }
}

extension DrawnParam {
    /// The rules in the braces behind the parameter's name.
    fileprivate var rules: String {
        var rules = isInteger ? ["type: integer", "min: 1", "max: 999"] : ["type: string"]
        if !oneOf.isEmpty { rules.append("one_of: [\(oneOf.joined(separator: ", "))]") }
        if let fallback { rules.append("default: \(fallback)") }
        if isRequired { rules.append("required: true") }
        if let maxLength { rules.append("max_length: \(maxLength)") }
        if isHeader { rules.append("in: header") }
        return rules.joined(separator: ", ")
    }
}

extension DrawnUse {
    func written(in endpoint: DrawnEndpoint) -> String {
        "{\(source.written(in: endpoint))\(isOptional ? "?" : "")}"
    }
}

extension DrawnUse.Source {
    /// `c0.nest.a`, `request.header.X-User`
    fileprivate func written(in endpoint: DrawnEndpoint) -> String {
        switch self {
        case .param(let name): name
        case .header(let name): "request.header.\(name)"
        case .query(let name): "request.query.\(name)"
        case .client: "request.client"
        case .caller: "request.caller"
        case .bodyField(let name): "request.body.\(name)"
        case .call(let index, let path): "\(endpoint.calls[index].name).\(path)"
        }
    }
}

extension DrawnCondition {
    /// In the flow style of YAML. The recursion is as deep as it was drawn.
    fileprivate func written(in endpoint: DrawnEndpoint) -> String {
        func list(_ parts: [DrawnCondition]) -> String {
            "[" + parts.map { $0.written(in: endpoint) }.joined(separator: ", ") + "]"
        }
        return switch self {
        case .sent(let name): "{ param: \(name) }"
        case .param(let name, let value): "{ param: \(name), is: \(value) }"
        case .all(let parts): "{ all: \(list(parts)) }"
        case .any(let parts): "{ any: \(list(parts)) }"
        case .not(let part): "{ not: \(part.written(in: endpoint)) }"
        case .test(let source, let test):
            "{ value: \"{\(source.written(in: endpoint))}\", \(test.written(in: endpoint)) }"
        }
    }
}

extension DrawnCondition.DrawnTest {
    fileprivate func written(in endpoint: DrawnEndpoint) -> String {
        func text(_ operand: DrawnCondition.DrawnOperand) -> String {
            switch operand {
            case .text(let text): "\"\(text)\""
            case .constant(let text): text
            case .source(let source): "\"{\(source.written(in: endpoint))}\""
            }
        }
        func list(_ operands: [DrawnCondition.DrawnOperand]) -> String {
            "[\(operands.map(text).joined(separator: ", "))]"
        }
        return switch self {
        case .equals(let operand): "is: \(text(operand))"
        case .differs(let operand): "is_not: \(text(operand))"
        case .oneOf(let operands): "one_of: \(list(operands))"
        case .has(let operand): "has: \(text(operand))"
        case .hasAny(let operands): "has_any: \(list(operands))"
        case .exists(let isWanted): "exists: \(isWanted)"
        }
    }
}

extension DrawnCall {
    /// The first segment of the path identifies generation, endpoint and call; the values that the
    /// call uses follow, in order.
    func target(
        of endpoint: DrawnEndpoint, _ config: DrawnConfig, _ value: (DrawnUse) -> String
    ) -> String {
        var path = "/" + key(of: endpoint, config)
        var query: [String] = []
        for (index, use) in uses.enumerated() {
            switch use.place {
            case .path: path += "/" + value(use)
            case .query: query.append("u\(index)=" + value(use))
            case .header: break
            }
        }
        return path + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
    }

    func key(of endpoint: DrawnEndpoint, _ config: DrawnConfig) -> String {
        "g\(config.generation)e\(endpoint.index)c\(index)"
    }
}

extension [ClosedRange<Int>] {
    /// `[200-299, 404]`
    fileprivate var listed: String {
        let items = map {
            $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)"
        }
        return "[\(items.joined(separator: ", "))]"
    }
}
