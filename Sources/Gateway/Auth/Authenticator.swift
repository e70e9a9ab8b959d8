import Basics
import HTTP
import Promises
import Reactor

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
        case jwt(TokenAuthenticator)
        case certificate(CertificateAuthenticator)
    }

    /// - Parameter former: that of the same name before a reload
    init(
        _ plan: AuthenticatorPlan, _ surroundings: TokenAuthenticator.Surroundings,
        replacing former: Authenticator?
    ) {
        let loop = surroundings.loop
        self.plan = plan
        counts = former?.counts ?? AuthCounts()
        method =
            switch plan.method {
            case .apiKey(let keys): .apiKey(KeyAuthenticator(keys, loop: loop))
            case .basic(let keys): .basic(KeyAuthenticator(keys, loop: loop))
            case .jwt(let tokens):
                .jwt(
                    TokenAuthenticator(
                        tokens, name: plan.name, surroundings, replacing: former?.tokens))
            case .certificate(let rule):
                .certificate(CertificateAuthenticator(rule, name: plan.name))
            }
    }

    var source: CredentialSource { plan.source }

    /// Whether `auth_failures` may keep a credential from being checked. A key cannot be guessed, so a
    /// valid one passes.
    var mayBeLimited: Bool {
        switch method {
        case .apiKey, .certificate: false
        case .basic, .jwt: true
        }
    }

    /// Whether a client could find a valid credential by trying. A certificate has to be signed.
    var canBeGuessed: Bool { if case .certificate = method { false } else { true } }

    /// The credential of a request that this authenticator checks; nil if there is none.
    func credential(of head: RequestHead, _ exchange: RequestContext) -> Bytes? {
        if case .certificate = method { return exchange.peer.facts?.identity?.certificate }
        if case .credential(let credential) = source.content(of: head.fields) { return credential }
        return nil
    }

    /// Whether a credential must not be checked once `auth_failures` is reached, because it could be
    /// guessed or costs much to check.
    func isLimited(_ credential: Bytes) -> Bool {
        switch method {
        case .apiKey, .certificate: false
        case .basic: true
        case .jwt(let tokens): tokens.rememberedCaller(of: credential) == nil
        }
    }

    /// The caller of a credential that was checked before and need not be checked again.
    func rememberedCaller(of credential: Bytes) -> Caller? {
        tokens?.rememberedCaller(of: credential)
    }

    /// Checks the credential of a request.
    ///
    /// - Parameter end: when the request stops to wait for the decision
    func authenticate(
        _ credential: Bytes, _ exchange: RequestContext, until end: Instant
    ) -> AuthResult {
        switch method {
        case .apiKey(let keys): keys.checkKey(credential)
        case .basic(let keys): keys.checkPassword(credential)
        case .jwt(let tokens): tokens.checkToken(credential, until: end)
        case .certificate(let certificates): certificates.check(exchange.peer.facts?.identity)
        }
    }

    private var tokens: TokenAuthenticator? {
        if case .jwt(let tokens) = method { tokens } else { nil }
    }

    /// The age of the keys of an issuer in seconds; nil for other authenticators, and before the
    /// first fetch.
    var keysAge: Int64? { tokens?.keysAge }

    /// Stops fetching keys.
    func stop() { tokens?.stop() }
}
