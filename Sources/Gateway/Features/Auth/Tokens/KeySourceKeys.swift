package import Basics
import JOSE
package import YAMLReader

extension Config {
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
}

extension Config.File {
    /// The content, for keys of tokens.
    package var content: Bytes { bytes }
}

extension Config.TokenKeys: PlainBlock {
    static let alternatives = [["url", "from", "file", "secret"]]

    static let keys: [BlockKey<Config.TokenKeys>] = [
        .value(
            "url", \.url, .keySetURL,
            "URL of a JWK Set, fetched by the gateway; https:// except for loopback addresses"),
        .value("from", \.from, .text, "backend that has the JWK Set, with its TLS and breaker"),
        .value("get", \.get, .urlPath, "path of the JWK Set at the backend of from"),
        .value(
            "file", \.file, .file,
            "file with a JWK Set or public keys in PEM; for HS256, HS384 and HS512 a JWK, a set, or the bytes of the secret"
        ),
        .value(
            "secret", \.secret, .sharedSecret,
            "secret for HS256, HS384 and HS512, e.g. ${file:/run/secrets/jwt}"),
        .value(
            "encoding", \.encoding, .choice, default: .choice(PlanDefaults.secretEncoding),
            "how secret is written: as it is, or its bytes in Base64"),
        .value(
            "refresh", \.refresh, .duration, default: .time(PlanDefaults.keysRefresh),
            "how often the set is fetched; its max-age takes precedence, from 1m to 24h"),
        .value(
            "stale", \.stale, .duration(allowsZero: true), default: .time(PlanDefaults.keysStale),
            "how long keys are used while refreshes fail; then 503"),
        .value(
            "unknown_kid", \.unknownKid, .duration, default: .time(PlanDefaults.keysUnknownKid),
            "least time between two fetches; an unknown kid causes at most one in that time"),
    ]
}

extension ValueReader where Value == Config.KeySetURL {
    static var keySetURL: ValueReader {
        let message = "must be a URL such as https://id.example.com/jwks.json"
        return .scalar(.text(format: .keySetURL), expected: message) { scalar throws(Refusal) in
            try Config.KeySetURL(parsing: scalar.text)
        }
    }
}

extension ValueReader where Value == String {
    /// A secret of any characters. No message quotes it.
    static var sharedSecret: ValueReader {
        .scalar(.text(format: .sharedSecret), expected: "must be a text") {
            scalar throws(Refusal) in
            guard scalar.text.utf8.count >= 32 else {
                throw Refusal("must have at least 32 bytes, the length of a hash of HS256")
            }
            return scalar.text
        }
    }
}
