import Basics

// Compiles `auth` and `auth_failures`.
extension Planner {
    var authenticators: [AuthenticatorPlan] {
        get throws(PlanError) {
            var plans: [AuthenticatorPlan] = []
            for authenticator in config.authenticators {
                plans.append(try AuthenticatorPlan(authenticator, self))
            }
            return plans
        }
    }

    /// Nil without a limit.
    var authFailures: TokenBucket? {
        switch config.authFailures?.value {
        case .off?: nil
        case .rate(let rate)?: rate.bucket()
        case nil: PlanDefaults.authFailures.bucket()
        }
    }
}
