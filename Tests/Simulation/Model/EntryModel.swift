import Rehearsal

/// The model of what applies to a request before its endpoint is known, and of the header lines that
/// every response has. It is written from the documentation, without the gateway's code.
struct EntryModel {
    let request: ScriptedRequest
    let config: DrawnConfig

    private var entry: DrawnEntry { config.entry }

    /// The endpoint with the path and the method of the request.
    private var matched: DrawnEndpoint? {
        config.endpoint(of: request).flatMap { $0.accepts(request.method) ? $0 : nil }
    }

    // MARK: Refusals

    /// The status of a refusal before the routes.
    var refusal: Int? {
        if let clients = entry.clients {
            if isIn(clients.deny) { return 403 }
            if !clients.allow.isEmpty, !isIn(clients.allow) { return 403 }
        }
        if !entry.hosts.isEmpty, !request.isFor(entry.hosts) { return 421 }
        return deniesAgent ? 403 : nil
    }

    /// The reason of a 403: the address is checked before the host and the `User-Agent`.
    var forbiddenReason: String {
        if let clients = entry.clients {
            if isIn(clients.deny) || !clients.allow.isEmpty && !isIn(clients.allow) {
                return "address"
            }
        }
        return deniesAgent ? "user_agent" : "address"
    }

    private var deniesAgent: Bool {
        entry.deniesAgents && request.header("User-Agent") == InputDraw.deniedAgent
    }

    /// Whether the endpoint refuses the client.
    func isRefused(by endpoint: DrawnEndpoint) -> Bool { isIn(endpoint.entry.deny) }

    /// The networks of the drawn lists contain these of the drawn addresses; the clients themselves
    /// are 127.0.0.1, or on a unix socket.
    private func isIn(_ networks: [String]) -> Bool {
        networks.contains { network in
            switch network {
            case "198.51.100.0/24": address?.hasPrefix("198.51.100.") == true
            case "198.51.100.64/26": address == "198.51.100.77"
            case "203.0.113.0/24": address?.hasPrefix("203.0.113.") == true
            case "127.0.0.0/8": address == "127.0.0.1"
            case "\"2001:db8::/32\"": address?.hasPrefix("2001:db8:") == true
            case "unix": address == nil
            default: false
            }
        }
    }

    /// The header counts only if its sender is a trusted proxy.
    var address: String? {
        let peer = config.listensOnUnixSocket && request.listener == nil ? nil : "127.0.0.1"
        return entry.clients == nil ? peer : request.header("X-Forwarded-For") ?? peer
    }

    // MARK: CORS

    private func rules(of endpoint: DrawnEndpoint?) -> DrawnCORS? {
        switch endpoint?.entry.cors {
        case .inherited?, nil: entry.cors
        case DrawnEndpointEntry.CORS.none?: nil
        case .own(let rules)?: rules
        }
    }

    /// The rules for a preflight; nil if the request is none, or its path has no rules.
    var preflightRules: DrawnCORS? {
        guard request.method == "OPTIONS", request.header("Origin") != nil,
            let wanted = request.header("Access-Control-Request-Method"),
            let endpoint = config.endpoint(of: request, preflightFor: wanted)
        else { return nil }
        return endpoint.accepts(wanted) ? rules(of: endpoint) : entry.cors
    }

    private func allows(_ rules: DrawnCORS) -> String? {
        guard let origin = request.header("Origin") else { return rules.isOpen ? "*" : nil }
        if rules.isOpen { return "*" }
        let isListed = rules.origins.contains { pattern in
            pattern == origin || pattern == "https://*.shop.test" && origin == "https://a.shop.test"
        }
        return isListed ? origin : nil
    }

    // MARK: Headers

    typealias Lines = [String: [String]]

    /// The names of all headers that the model knows.
    static let names = [
        "X-Content-Type-Options", "Content-Security-Policy", "Referrer-Policy",
        "Cross-Origin-Resource-Policy", "X-Fixed", "Vary", "Access-Control-Allow-Origin",
        "Access-Control-Allow-Methods", "Access-Control-Allow-Headers",
        "Access-Control-Allow-Credentials", "Access-Control-Expose-Headers",
        "Access-Control-Max-Age",
    ]

    /// The lines of a response of the request's endpoint.
    var lines: Lines { lines(of: matched, knowsRequest: true) }

    /// The lines of a response to what is no request, and to a request for no endpoint.
    var linesWithoutRequest: Lines { lines(of: nil, knowsRequest: false) }
    var linesWithoutEndpoint: Lines { lines(of: nil, knowsRequest: true) }

    private func lines(of endpoint: DrawnEndpoint?, knowsRequest: Bool) -> Lines {
        var lines = fixed(endpoint)
        let varying =
            (endpoint.map { config.headersInConditions(beside: $0) } ?? [])
            + (endpoint?.keys["parts"] != nil ? ["Accept"] : [])
        if !varying.isEmpty { lines["Vary"] = [varying.joined(separator: ", ")] }
        guard let rules = rules(of: endpoint) else { return lines }
        if !rules.isOpen { lines["Vary", default: []].append("Origin") }
        guard let origin = knowsRequest ? allows(rules) : rules.isOpen ? "*" : nil else {
            return lines
        }
        lines["Access-Control-Allow-Origin"] = [origin]
        if rules.hasCredentials { lines["Access-Control-Allow-Credentials"] = ["true"] }
        lines["Access-Control-Expose-Headers"] = [
            (["X-Request-Id", "Gateway-Complete", "Gateway-Failures", "Retry-After", "RateLimit"]
                + rules.expose).joined(separator: ", ")
        ]
        return lines
    }

    /// The lines of the response to a preflight.
    func preflightLines(_ rules: DrawnCORS) -> Lines {
        var lines = fixed(nil)
        lines["Vary"] = [
            "Origin, Access-Control-Request-Method, Access-Control-Request-Headers"
        ]
        guard let origin = allows(rules) else { return lines }
        lines["Access-Control-Allow-Origin"] = [origin]
        if rules.hasCredentials { lines["Access-Control-Allow-Credentials"] = ["true"] }
        if !rules.headers.isEmpty {
            lines["Access-Control-Allow-Headers"] = [rules.headers.joined(separator: ", ")]
        }
        lines["Access-Control-Max-Age"] = ["\(rules.maxAge)"]
        if let method, let endpoint = config.endpoint(of: request, preflightFor: method),
            self.rules(of: endpoint) == rules
        {
            lines["Access-Control-Allow-Methods"] = [method == "GET" ? "GET, HEAD" : method]
        }
        return lines
    }

    /// The method of all routes of the path.
    private var method: String? { request.endpoint.map { config.endpoints[$0].method } }

    /// The lines of a redirect to https, or of a rejection instead of it: none of CORS.
    var linesOfRedirect: Lines { fixed(nil) }

    private func fixed(_ endpoint: DrawnEndpoint?) -> Lines {
        var lines: Lines = [:]
        if entry.securityHeaders != "none" { lines["X-Content-Type-Options"] = ["nosniff"] }
        if entry.securityHeaders == "api" {
            lines["Content-Security-Policy"] = ["default-src 'none'; frame-ancestors 'none'"]
            lines["Referrer-Policy"] = ["no-referrer"]
            lines["Cross-Origin-Resource-Policy"] = ["same-site"]
        }
        for header in entry.headers + (endpoint?.entry.headers ?? []) {
            lines[header.name] = [header.value]
        }
        return lines
    }
}

extension DrawnCORS {
    fileprivate var isOpen: Bool { origins == ["*"] }
}
