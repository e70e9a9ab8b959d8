import HTTP

/// What the `WWW-Authenticate` lines of an authenticator state (RFC 9110 11.6.1).
struct ChallengePlan {
    /// The challenge without an error.
    let text: String
    /// Whether the scheme defines errors of a refused credential.
    private let statesErrors: Bool
    /// Whether the scheme names the scopes that a caller must have.
    private let statesScopes: Bool

    /// - Parameter parameters: what follows the realm
    init(
        _ source: CredentialSource, realm: String, parameters: String = "",
        statesErrors: Bool = false, statesScopes: Bool = false
    ) {
        text = "\(source.scheme) realm=\"\(realm)\"\(parameters)"
        self.statesErrors = statesErrors
        self.statesScopes = statesScopes
    }

    /// What the challenge states about a credential that was refused (RFC 6750, section 3.1); nil where
    /// the scheme defines nothing (RFC 7617), or for a request without a credential.
    ///
    /// - Parameter isAmbiguous: whether the request has several credentials
    func error(for reason: RefusalReason, isAmbiguous: Bool) -> String? {
        guard statesErrors else { return nil }
        if isAmbiguous { return "error=\"invalid_request\"" }
        switch reason {
        case .malformed, .untrusted, .expired, .notYetValid: return "error=\"invalid_token\""
        default: return nil
        }
    }

    /// The challenge of a 403 for a caller without the scopes; nil where the scheme defines none.
    func text(forScopes scopes: [String]) -> String? {
        guard statesScopes else { return nil }
        return "\(text), error=\"insufficient_scope\", scope=\"\(scopes.joined(separator: " "))\""
    }
}
