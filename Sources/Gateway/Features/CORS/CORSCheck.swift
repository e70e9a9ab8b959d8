/// The rules for `cors`.
extension ConfigCheck {
    mutating func checkCORS() {
        if let cors = config.defaults?.cors { checkRules(cors) }
        for endpoint in config.endpoints {
            if case .rules(let cors)? = endpoint.cors?.value { checkRules(cors) }
            if let cors = config.cors(of: endpoint) { checkUse(of: cors, by: endpoint) }
        }
    }

    private mutating func checkRules(_ cors: Config.CORS) {
        checkOrigins(cors)
        guard let credentials = cors.credentials, credentials.value else { return }
        if let any = cors.origins.first(where: { $0.value == .any }) {
            problems.error(
                at: any.location,
                "origin '*' and 'credentials' exclude each other: any page could act for its"
                    + " visitors; list the origins")
        }
        for (key, names) in [("headers", cors.headers), ("expose", cors.expose)] {
            guard let any = names.first(where: { $0.value == "*" }) else { continue }
            problems.error(
                at: any.location,
                "'*' in '\(key)' and 'credentials' exclude each other: with credentials, browsers"
                    + " read '*' as the name of a header; list the headers")
        }
        for origin in cors.origins where origin.value.isOpenToTheNetwork {
            problems.warning(
                at: origin.location,
                "'\(origin.quoted(\.text))' with 'credentials': an attacker who changes unencrypted"
                    + " traffic can read the responses to visitors; use https://")
        }
    }

    private mutating func checkOrigins(_ cors: Config.CORS) {
        var seen: Set<Config.CORS.Origin> = []
        let hasAny = cors.origins.contains { $0.value == .any }
        for origin in cors.origins {
            if !seen.insert(origin.value).inserted {
                problems.warning(at: origin.location, "'origins' has this entry twice")
                continue
            }
            if hasAny, origin.value != .any {
                problems.warning(
                    at: origin.location,
                    "'\(origin.quoted(\.text))' has no effect beside '*'")
            }
            if origin.value == .exact("null") {
                problems.warning(
                    at: origin.location,
                    "'null' is the origin of every sandboxed frame and local file, so any page can"
                        + " have it")
            }
        }
    }

    /// Warns of headers that pages need for an endpoint and cannot send.
    private mutating func checkUse(of cors: Config.CORS, by endpoint: Config.Endpoint) {
        let listed = cors.headers.map { $0.value.lowercased() }
        let location = cors.headers.first?.location ?? cors.location
        let readsJSON =
            endpoint.body != nil
            || endpoint.references.contains { reference in
                if case .requestBody = reference.value.source { true } else { false }
            }
        if readsJSON, !listed.contains("content-type"), !listed.contains("*") {
            problems.warning(
                at: location,
                "\(endpoint.title): pages cannot send JSON; add 'Content-Type' to 'headers' of 'cors'"
            )
        }
        let forwarded = endpoint.calls.flatMap { call in
            config.forward(of: call, in: endpoint)?.headers.map { $0.value.lowercased() } ?? []
        }
        if forwarded.contains("authorization"), !listed.contains("authorization") {
            problems.warning(
                at: location,
                "\(endpoint.title): pages cannot send 'Authorization', which is forwarded; add it to"
                    + " 'headers' of 'cors' ('*' does not include it)")
        }
    }
}

extension Config.CORS.Origin {
    /// Whether pages of it are sent without encryption over a network.
    fileprivate var isOpenToTheNetwork: Bool {
        let text = text
        guard text.hasPrefix("http://") else { return false }
        let host = URLSyntax.split(text.dropFirst("http://".count)).host
        return
            !(host == "localhost" || host.hasSuffix(".localhost") || host == "[::1]"
            || host.hasPrefix("127."))
    }
}
