package import YAMLReader

extension Config {
    /// `proxy:` of an endpoint: the backend that its requests and their bodies are passed through to.
    package struct Proxy: Sendable {
        package let location: SourceLocation
        /// The backend's name.
        package var to: Located<String>?
        package var path: Located<ProxyPath>?
        /// To the head of the response.
        package var timeout: Located<Duration>?
        package var idleTimeout: Located<Duration>?
        package var maxDuration: Located<Duration>?
        /// Bytes of the request's body.
        package var maxBody: Located<Int>?
        package var host: Located<ProxyHost>?
        package var forwarded: Located<Forwarded>?
        package var clientCert: Located<ClientCert>?
        package var credential: Located<Credential>?
        package var interim: Located<Interim>?
        package var rewrite: [Located<Rewrite>] = []
        package var headers: [Call.HeaderTemplate] = []
        package var dropHeaders: [Located<String>] = []
        package var underscores: Located<Underscores>?
        /// Protocols that clients may switch to, in lower case.
        package var upgrade: [Located<String>] = []
        package var retry: Call.Retry?

        init(location: SourceLocation) {
            self.location = location
        }

        /// Whether the backend receives the certificate of a verified client (RFC 9440).
        package enum ClientCert: String, Sendable, CaseIterable { case off, on }

        /// Which clients receive the interim responses of the backend, such as 103 (RFC 8297). Many clients of
        /// HTTP/1.1 take them for the final one.
        package enum Interim: String, Sendable, CaseIterable { case off, http2, all }

        /// The header fields of a response in which paths of the backend become paths of the route.
        package enum Rewrite: String, Sendable, CaseIterable { case location, cookies }

        /// What happens to header fields of clients with `_` in their names.
        package enum Underscores: String, Sendable, CaseIterable { case drop, pass }

        /// Whether the backend receives the credential of an authenticated client.
        package enum Credential: String, Sendable, CaseIterable { case drop, pass }
    }

    /// The `Host` of the requests to the backend.
    package enum ProxyHost: Sendable, Equatable {
        /// The host of the backend's URL.
        case backend
        /// The host of the client's request.
        case client
        case name(String)
    }

    /// `path:` of `proxy`, the path at the backend.
    package struct ProxyPath: Sendable, Equatable {
        /// As written: `/v1/*`.
        package let text: String
        package let pieces: [Piece]

        package enum Piece: Sendable, Equatable {
            /// Percent-encoded.
            case literal(String)
            /// The segment of the route's parameter, as the client sent it.
            case parameter(String)
            /// What the `*` of the route matched.
            case rest
        }
    }
}

extension Config.Route {
    /// Whether it matches all paths with its beginning.
    package var hasRest: Bool { segments.last == .rest }
}

extension Config.Proxy: PlainBlock {
    static let keys: [BlockKey<Config.Proxy>] = [
        .value("to", \.to, .text, isRequired: true, "name of the backend"),
        .value(
            "path", \.path, .proxyPath, default: .description("the client's path"),
            "path at the backend, with {parameters} and a * for the rest of the route"),
        .value(
            "timeout", \.timeout, .duration, default: .time(PlanDefaults.proxyTimeout),
            "time limit from the last byte of the request to the head of the response"),
        .value(
            "idle_timeout", \.idleTimeout, .duration, default: .time(PlanDefaults.proxyIdleTimeout),
            "maximum time in which no byte of the bodies is transferred"),
        .value(
            "max_duration", \.maxDuration, .duration,
            "time limit for the whole exchange, with both bodies"),
        .value(
            "max_body", \.maxBody, .size(upTo: SizeLimits.stream),
            "maximum size of the request's body; else 413"),
        .value(
            "host", \.host, .proxyHost, default: .text("backend"),
            "`Host` header to send: `backend` (the URL's host), `client`, or a fixed name"),
        .value(
            "forwarded", \.forwarded, .choice, default: .choice(PlanDefaults.proxyForwarded),
            "headers that send the client's address: X-Forwarded-* (x), Forwarded (rfc7239)"),
        .value(
            "client_cert", \.clientCert, .choice, default: .choice(PlanDefaults.proxyClientCert),
            "whether Client-Cert sends the certificate of a verified client (RFC 9440)"),
        .value(
            "credential", \.credential, .choice, default: .choice(PlanDefaults.proxyCredential),
            "whether the backend receives the credential that auth has checked"),
        .value(
            "interim", \.interim, .choice, default: .choice(PlanDefaults.proxyInterim),
            "which clients receive interim responses of the backend, such as 103"),
        .list(
            "headers", \.headers, .headerTemplates,
            "header fields that are set on the request, instead of the client's"),
        .list(
            "drop_headers", \.dropHeaders, .list(of: .droppedHeader),
            "header fields that are removed from the request"),
        .value(
            "underscores", \.underscores, .choice,
            default: .choice(PlanDefaults.proxyUnderscores),
            "whether the client's header fields with _ in their names, which many servers take for -,"
                + " reach the backend"),
        .list(
            "rewrite", \.rewrite, .list(of: .choice),
            "paths of the backend that become paths of the route in a response: in Location, and in"
                + " cookies"),
        .list(
            "upgrade", \.upgrade, .list(of: .upgradeToken),
            "protocols that clients may switch to, e.g. websocket"),
        .block("retry", \.retry, "sends a request without a body again after a failure"),
    ]
}

enum ProxyKeys {
    static let endpoint: [BlockKey<Config.Endpoint>] = [
        .init(
            "proxy", ValueReader<Config.Proxy>.proxy.schema,
            "backend that requests and responses are passed through to, instead of calls"
        ) { member, endpoint, decoder in
            endpoint.proxy = ValueReader<Config.Proxy>.proxy.read(member.node, &decoder)
        }
    ]
}

extension Config {
    /// The header fields that are set on the requests of an endpoint with `proxy`.
    package func headers(of proxy: Proxy, in endpoint: Endpoint) -> [Call.HeaderTemplate] {
        let own = proxy.headers.map { $0.name.value.lowercased() }
        return endpoint.headers.filter { !own.contains($0.name.value.lowercased()) }
            + proxy.headers
    }
}

extension String {
    /// What a route or a path has before its first parameter or `*`.
    var beforePatterns: String { String(prefix { !"{*".contains($0) }) }

    /// The first parameter or `*`, and what follows.
    var patterns: String { String(drop { !"{*".contains($0) }) }
}
