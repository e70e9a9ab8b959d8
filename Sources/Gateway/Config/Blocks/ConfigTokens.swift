package import Basics
package import JOSE
package import YAMLReader

extension Config {
    /// `jwt:`, tokens that an issuer signs (RFC 7519).
    package struct JWT: Sendable {
        package let location: SourceLocation
        package var issuer: Located<AcceptedNames>?
        package var audience: Located<AcceptedNames>?
        package var algorithms: [Located<SignatureAlgorithm>] = []
        package var keys: TokenKeys?
        package var place: TokenPlace?
        package var type: Located<TokenType>?
        package var leeway: Located<Duration>?
        package var scopesClaim: Located<ScopesClaim>?
        package var remember: Located<Int>?

        init(location: SourceLocation) {
            self.location = location
        }

        /// `scopes_claim:`
        package struct ScopesClaim: Sendable {
            /// The claims that may have the scopes, each as the names on the way to it.
            package let paths: [[String]]

            /// A claim of this name, else, if the name has dots, the one at this path.
            init(named name: String) {
                let parts = name.split(separator: ".", omittingEmptySubsequences: false)
                let isPath = parts.count > 1 && !parts.contains("")
                paths = [[name]] + (isPath ? [parts.map { String($0) }] : [])
            }

            /// The claim at the end of these names.
            init(path: [String]) {
                paths = [path]
            }
        }

        /// `issuer:` and `audience:`, the values that a claim may have.
        package enum AcceptedNames: Sendable {
            /// The claim is not read.
            case any
            case oneOf([Located<String>])

            /// Nil accepts any value.
            package var names: [Located<String>]? {
                switch self {
                case .any: nil
                case .oneOf(let names): names
                }
            }
        }
    }

    /// `keys:` of `jwt`, where the keys of an issuer come from.
    package struct TokenKeys: Sendable {
        package let location: SourceLocation
        package var url: Located<KeySetURL>?
        package var from: Located<String>?
        package var get: Located<String>?
        package var file: Located<File>?
        package var secret: Located<String>?
        package var encoding: Located<SecretEncoding>?
        package var refresh: Located<Duration>?
        package var stale: Located<Duration>?
        package var unknownKid: Located<Duration>?

        init(location: SourceLocation) {
            self.location = location
        }

        /// How `secret` is written.
        package enum SecretEncoding: String, Sendable, CaseIterable {
            case text, base64, base64url
        }

        /// The bytes of `secret`; nil without one, or if it is not in its encoding.
        package var secretBytes: Bytes? {
            guard let text = secret?.value else { return nil }
            // Generators of keys write the padding or leave it out; it has no meaning.
            let digits = Bytes(text.replacing(/={0,2}$/, with: ""))
            switch encoding?.value ?? .text {
            case .text: return Bytes(text)
            case .base64url: return Base64URL.decode(digits.span).map { Bytes($0) }
            case .base64:
                let padding = [UInt8](repeating: UInt8(ascii: "="), count: -digits.count & 3)
                return Base64.bytes(Bytes(digits.array + padding)).map { Bytes($0) }
            }
        }

        /// Whether its keys are fetched while the gateway runs.
        package var isFetched: Bool { url != nil || from != nil }

        /// Whether the issuer's certificate is verified with the system's trusted CAs.
        var needsSystemTrust: Bool { url?.value.server.scheme == .https }
    }

    /// The URL of a JWK Set.
    package struct KeySetURL: Sendable, Equatable {
        /// Scheme, host and port.
        package let server: BackendURL
        /// Path and query, as they are written.
        package let target: String

        package init(parsing text: String) throws(Refusal) {
            let scheme = text.prefix { $0 != "/" }
            let authority = text.dropFirst(scheme.count + 2).prefix { !"/?#".contains($0) }
            let origin = text.prefix(scheme.count + 2 + authority.count)
            server = try BackendURL(parsing: String(origin))
            let rest = String(text.dropFirst(origin.count))
            target = rest.hasPrefix("/") ? rest : "/" + rest
            try URLSyntax.check(pathAndQuery: target)
        }

        /// As messages and `check` show it.
        package var text: String { "\(server.scheme.rawValue)://\(authority)\(target)" }

        private var authority: String {
            let host = server.host.contains(":") ? "[\(server.host)]" : server.host
            let isDefault = server.port == (server.scheme == .http ? 80 : 443)
            return isDefault ? host : "\(host):\(server.port)"
        }
    }

    /// `token:` of `jwt`, where a request has its token.
    package struct TokenPlace: Sendable {
        package let location: SourceLocation
        package var header: Located<String>?
        package var cookie: Located<String>?

        init(location: SourceLocation) {
            self.location = location
        }
    }
}

extension Config.File {
    /// The content, for keys of tokens.
    package var content: Bytes { bytes }
}

extension Config.JWT {
    /// The header that clients send their token in.
    var header: String {
        place?.cookie != nil ? "Cookie" : place?.header?.value ?? PlanDefaults.tokenHeader
    }

    /// The algorithms that are accepted.
    package var acceptedAlgorithms: [SignatureAlgorithm] {
        algorithms.isEmpty ? PlanDefaults.tokenAlgorithms : algorithms.map(\.value)
    }
}

extension Config {
    /// The authenticators of an endpoint that read tokens; with one, `{token.claim}` refers to the
    /// claims.
    package func tokenAuthenticators(of endpoint: Endpoint) -> [Authenticator] {
        let names = authRule(of: endpoint)?.any.map(\.value) ?? []
        return authenticators.filter { $0.jwt != nil && names.contains($0.name.value) }
    }
}
