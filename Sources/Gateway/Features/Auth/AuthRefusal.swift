import HTTP

/// Why a credential is refused.
package struct AuthRefusal {
    package let reason: RefusalReason
    /// Of a token.
    package let cause: RefusalCause?
    /// Seconds, for a refusal that has nothing to do with the credential.
    package let retryAfter: Int?

    package init(_ reason: RefusalReason, cause: RefusalCause? = nil, retryAfter: Int? = nil) {
        self.reason = reason
        self.cause = cause
        self.retryAfter = retryAfter
    }
}
