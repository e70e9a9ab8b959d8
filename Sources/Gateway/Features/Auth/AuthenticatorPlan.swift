import Basics
import HTTP

/// One of `auth:`, compiled.
package final class AuthenticatorPlan {
    package let name: String
    package let source: CredentialSource
    let kind: Kind
    let challenge: ChallengePlan
    /// `api_key in X-Api-Key, 3 keys`
    package let text: String

    /// One case for each kind in the configuration, with what its check needs.
    enum Kind {
        case keys(KeyTable)
        case passwords(KeyTable)
        case tokens(TokenPlan)
        case certificates(CertificateRule)
    }

    init(_ config: Config.Authenticator, _ planner: Planner) throws(PlanError) {
        name = config.name.value
        if let apiKey = config.apiKey, let file = apiKey.keys?.value {
            guard let header = config.credentialHeader.flatMap({ FieldName($0) }) else {
                throw PlanError("\(apiKey.location): not a header name")
            }
            let keys = KeyTable(file, authenticator: name)
            source = .apiKey(header)
            kind = .keys(keys)
            challenge = ChallengePlan(source, realm: name, statesScopes: true)
            let shownHeader = config.quotedCredentialHeader ?? ""
            text = "api_key in \(shownHeader), \(Self.count(keys.count, "key"))"
        } else if let file = config.basic?.keys?.value {
            let passwords = KeyTable(file, authenticator: name)
            source = .basic
            kind = .passwords(passwords)
            // RFC 7617, section 2.1: names and passwords are UTF-8.
            challenge = ChallengePlan(source, realm: name, parameters: ", charset=\"UTF-8\"")
            text = "basic, \(Self.count(passwords.count, "password"))"
        } else if let jwt = config.jwt {
            let tokens = try planner.tokens(jwt, of: name)
            source = try CredentialSource(jwt)
            kind = .tokens(tokens)
            challenge = ChallengePlan(source, realm: name, statesErrors: true, statesScopes: true)
            text = tokens.text
        } else if let certificate = config.certificate {
            let rule = CertificateRule(patterns: certificate.names.map(\.value))
            source = .certificate
            kind = .certificates(rule)
            challenge = ChallengePlan(source, realm: name)
            text = rule.text
        } else {
            throw PlanError("\(config.location): no method of authentication")
        }
    }

    private static func count(_ number: Int, _ noun: String) -> String {
        "\(number) \(noun)\(number == 1 ? "" : "s")"
    }

    /// Nil for an authenticator that reads no tokens.
    package var tokens: TokenPlan? {
        if case .tokens(let tokens) = kind { tokens } else { nil }
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
