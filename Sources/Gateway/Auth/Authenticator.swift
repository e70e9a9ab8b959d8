import Basics
package import HTTP
package import Promises
import Reactor

/// What an authenticator decided about a credential.
package enum AuthResult {
    case accepted(Caller)
    case refused(AccessRefusal)
    /// It has to wait, for instance for the keys of an issuer. The promise never rejects, except when
    /// it is cancelled, and never has this value again.
    case later(LocalPromise<AuthResult>)

    static func refused(_ reason: RefusalReason) -> AuthResult { .refused(AccessRefusal(reason)) }
}

/// Why a credential is refused.
package struct AccessRefusal {
    package let reason: RefusalReason
    /// Seconds, for a refusal that has nothing to do with the credential.
    package let retryAfter: Int?

    package init(_ reason: RefusalReason, retryAfter: Int? = nil) {
        self.reason = reason
        self.retryAfter = retryAfter
    }
}

/// One of `auth:`, on one worker.
package final class Authenticator {
    package let plan: AuthenticatorPlan
    /// Passed on by a reload to the authenticator with the same name.
    let counts: AuthCounts
    private let method: Method

    /// One case for each kind in the configuration.
    private enum Method {
        case apiKey(KeyAuthenticator)
        case basic(KeyAuthenticator)
    }

    /// - Parameter former: that of the same name before a reload
    init(_ plan: AuthenticatorPlan, loop: any Loop, replacing former: Authenticator?) {
        self.plan = plan
        counts = former?.counts ?? AuthCounts()
        method =
            switch plan.method {
            case .apiKey(let keys): .apiKey(KeyAuthenticator(keys, loop: loop))
            case .basic(let keys): .basic(KeyAuthenticator(keys, loop: loop))
            }
    }

    var source: CredentialSource { plan.source }

    /// Whether a credential must not be checked once `auth_failures` is reached, because it could be
    /// guessed or costs much to check. A key cannot be guessed, so a valid one passes.
    func isLimited(_ credential: Bytes) -> Bool {
        switch method {
        case .apiKey: false
        case .basic: true
        }
    }

    /// Checks the credential of a request.
    func authenticate(_ credential: Bytes, _ exchange: Exchange) -> AuthResult {
        switch method {
        case .apiKey(let keys): keys.checkKey(credential)
        case .basic(let keys): keys.checkPassword(credential)
        }
    }
}
