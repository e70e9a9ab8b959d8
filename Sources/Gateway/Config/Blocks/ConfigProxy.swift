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

        /// What happens to header fields of clients with `_` in their names.
        package enum Underscores: String, Sendable, CaseIterable { case drop, pass }

        /// Whether the backend receives the credential of an authenticated client.
        package enum Credential: String, Sendable, CaseIterable { case drop, pass }
    }

    /// The `Host` of the requests to the backend.
    package enum ProxyHost: Sendable, Equatable {
        /// That of the backend's URL.
        case backend
        /// That of the client's request.
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
