import HTTP

/// The `WWW-Authenticate` lines of an endpoint's refusals: one for each kind of credential that it
/// accepts (RFC 9110 11.6.1).
struct AuthChallenges {
    private let authenticators: [AuthenticatorPlan]
    /// The first of each kind, by index.
    private let firsts: [Int]
    private let scopes: [String]
    /// For a request without a credential.
    private let plain: Fields

    init(_ authenticators: [AuthenticatorPlan], scopes: [String]) {
        self.authenticators = authenticators
        self.scopes = scopes
        firsts = authenticators.indices.filter { index in
            !authenticators[..<index].contains {
                $0.source.scheme == authenticators[index].source.scheme
            }
        }
        var plain = Fields()
        for index in firsts { plain.append(challenge: authenticators[index].challenge.text) }
        self.plain = plain
    }

    /// - Parameters:
    ///   - isAmbiguous: whether the request has several credentials
    ///   - index: the authenticator that refused the request
    func fields(for reason: RefusalReason, isAmbiguous: Bool, by index: Int) -> Fields {
        switch reason {
        case .missing: return plain
        case .scope: return scopeFields(by: index)
        case .claims, .quota, .keysUnavailable: return Fields()
        default:
            let refusing = authenticators[index]
            guard let error = refusing.challenge.error(for: reason, isAmbiguous: isAmbiguous)
            else {
                return plain
            }
            var fields = Fields()
            for first in firsts {
                let isRefused = authenticators[first].source.scheme == refusing.source.scheme
                let plan = isRefused ? refusing : authenticators[first]
                fields.append(
                    challenge: isRefused
                        ? "\(plan.challenge.text), \(error)" : plan.challenge.text)
            }
            return fields
        }
    }

    private func scopeFields(by index: Int) -> Fields {
        var fields = Fields()
        if let challenge = authenticators[index].challenge.text(forScopes: scopes) {
            fields.append(challenge: challenge)
        }
        return fields
    }
}

extension Fields {
    fileprivate mutating func append(challenge: String) {
        if let value = FieldValue(challenge) { append(.wwwAuthenticate, value) }
    }
}
