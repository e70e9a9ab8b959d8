package import Basics

/// Who sent a request, as an authenticator established it.
///
/// Immutable. The callers of a key file are created with the plan, so that a request with a key
/// allocates none.
package final class Caller {
    /// The authenticator that accepted the credential, by its name in the configuration. Names of
    /// callers are unique within one authenticator only.
    package let authenticator: Bytes
    /// The id of the key, the user name, or the subject of the token; nil for a token without a
    /// subject, never empty.
    package let name: Bytes?
    package let scopes: [Bytes]
    /// The plan for rate limits.
    package let plan: Bytes?
    /// The claims of a token: a JSON object that has been validated. Nil for keys and passwords.
    package let claims: Bytes?

    package init(
        authenticator: Bytes, name: Bytes?, scopes: [Bytes] = [], plan: Bytes? = nil,
        claims: Bytes? = nil
    ) {
        self.authenticator = authenticator
        self.name = name.flatMap { $0.isEmpty ? nil : $0 }
        self.scopes = scopes
        self.plan = plan
        self.claims = claims
    }

    /// Whether the caller has all of these scopes.
    package func has(_ required: [Bytes]) -> Bool {
        required.allSatisfy { scopes.contains($0) }
    }
}
