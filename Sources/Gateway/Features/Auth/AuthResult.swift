import HTTP
package import Promises

/// What an authenticator decided about a credential.
package enum AuthResult {
    case accepted(Caller)
    case refused(AuthRefusal)
    /// It has to wait, for instance for the keys of an issuer. The promise never rejects, except when
    /// it is cancelled, and never fulfils with `later`.
    case later(LocalPromise<AuthResult>)

    static func refused(_ reason: RefusalReason) -> AuthResult { .refused(AuthRefusal(reason)) }
}
