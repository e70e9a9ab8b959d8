import Basics
import GatewayConfig
import HTTP
package import JOSE
import JSONText

/// One of `auth:`, compiled.
package final class AuthenticatorPlan {
    package let name: String
    let method: Method
    package let source: CredentialSource
    /// The name of the header as the configuration has it, for an API key.
    private let shownHeader: String?

    /// One case for each kind in the configuration.
    enum Method {
        case apiKey(KeyTable)
        case basic(KeyTable)
        case jwt(TokenPlan)
        case certificate(CertificateRule)
    }

    init(_ config: Config.Authenticator, _ planner: Planner) throws(PlanError) {
        name = config.name.value
        shownHeader = config.quotedCredentialHeader
        if let apiKey = config.apiKey, let file = apiKey.keys?.value {
            guard let header = config.credentialHeader.flatMap({ FieldName($0) }) else {
                throw PlanError("\(apiKey.location): not a header name")
            }
            source = .apiKey(header)
            method = .apiKey(KeyTable(file, authenticator: name))
        } else if let file = config.basic?.keys?.value {
            source = .basic
            method = .basic(KeyTable(file, authenticator: name))
        } else if let jwt = config.jwt {
            source = try CredentialSource(jwt)
            method = .jwt(try planner.tokens(jwt, of: name))
        } else if let certificate = config.certificate {
            source = .certificate
            method = .certificate(CertificateRule(patterns: certificate.names.map(\.value)))
        } else {
            throw PlanError("\(config.location): no method of authentication")
        }
    }

    /// `api_key in X-Api-Key, 3 keys`
    package var text: String {
        switch method {
        case .apiKey(let keys):
            "api_key in \(shownHeader ?? ""), \(Self.count(keys.count, "key"))"
        case .basic(let keys): "basic, \(Self.count(keys.count, "password"))"
        case .jwt(let tokens): tokens.text
        case .certificate(let rule): rule.text
        }
    }

    private static func count(_ number: Int, _ noun: String) -> String {
        "\(number) \(noun)\(number == 1 ? "" : "s")"
    }

    /// Whether its keys are fetched while the gateway runs.
    package var fetchesKeys: Bool {
        guard case .jwt(let tokens) = method, case .issuer = tokens.keys else { return false }
        return true
    }

    /// The rules for tokens; nil for other authenticators.
    package var tokenRules: TokenRules? {
        if case .jwt(let tokens) = method { tokens.rules } else { nil }
    }

    /// The keys for tokens that are in the configuration; nil for those that are fetched.
    package func configuredKeys() throws(KeySetError) -> KeySet? {
        guard case .jwt(let tokens) = method else { return nil }
        switch tokens.keys {
        case .file(let text): return try KeySet(file: text)
        case .secretFile(let text): return try KeySet(secretFile: text)
        case .secret(let secret): return KeySet(secret: secret)
        case .issuer: return nil
        }
    }

    // MARK: Challenges

    /// The challenge without an error (RFC 9110 11.6.1).
    var challenge: String {
        switch method {
        case .apiKey, .jwt, .certificate: "\(source.scheme) realm=\"\(name)\""
        // RFC 7617, section 2.1: names and passwords are UTF-8.
        case .basic: "\(source.scheme) realm=\"\(name)\", charset=\"UTF-8\""
        }
    }

    /// What the challenge states about a credential that was refused; nil where the scheme defines
    /// nothing (RFC 7617), or for a request without one.
    ///
    /// - Parameter isAmbiguous: whether the request has several credentials
    func challengeError(for reason: RefusalReason, isAmbiguous: Bool) -> String? {
        switch method {
        case .apiKey, .basic, .certificate: nil
        // RFC 6750, section 3.1.
        case .jwt:
            switch reason {
            case _ where isAmbiguous: "error=\"invalid_request\""
            case .malformed, .untrusted, .expired, .notYetValid: "error=\"invalid_token\""
            default: nil
            }
        }
    }

    /// The challenge of a 403 for a caller without the scopes; nil where the scheme defines none.
    func challenge(forScopes scopes: [String]) -> String? {
        switch method {
        case .apiKey, .jwt:
            "\(challenge), error=\"insufficient_scope\", scope=\"\(scopes.joined(separator: " "))\""
        case .basic, .certificate: nil
        }
    }
}

extension CredentialSource {
    fileprivate init(_ jwt: Config.JWT) throws(PlanError) {
        if let cookie = jwt.place?.cookie {
            self = .cookie(Bytes(cookie.value))
            return
        }
        let name = jwt.place?.header?.value ?? PlanDefaults.tokenHeader
        guard let header = FieldName(name) else {
            throw PlanError("\(jwt.location): not a header name")
        }
        self = header == .authorization ? .bearer : .token(header)
    }
}
