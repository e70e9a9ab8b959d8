import HTTP
import Reactor

/// One of `auth:`, on one worker.
final class Authenticator {
    let plan: AuthenticatorPlan
    /// Passed on by a reload to the authenticator with the same name.
    let counts: AuthCounts
    let check: any CredentialCheck

    /// - Parameter former: the authenticator of the same name before a reload
    init(
        _ plan: AuthenticatorPlan, _ surroundings: AuthSurroundings,
        replacing former: Authenticator?
    ) {
        self.plan = plan
        counts = former?.counts ?? AuthCounts()
        check =
            switch plan.kind {
            case .keys(let keys): KeyCheck(keys, loop: surroundings.loop)
            case .passwords(let passwords): PasswordCheck(passwords, loop: surroundings.loop)
            case .tokens(let tokens):
                TokenCheck(
                    tokens, name: plan.name, surroundings,
                    replacing: former?.check as? TokenCheck)
            case .certificates(let rule): CertificateCheck(rule, name: plan.name)
            }
    }

    var source: CredentialSource { plan.source }

    /// The decisions so far, for the metrics.
    var results: AuthResults { counts.results(of: plan.name, keysAge: check.keysAge) }
}
