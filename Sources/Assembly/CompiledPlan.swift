import Gateway
import Promises

/// The plan of a new configuration for one worker, which was compiled on another thread: a worker that
/// compiled a large configuration itself would not serve requests meanwhile.
package final class CompiledPlan: Sendable {
    private let plan: Guarded<Plan?>

    /// Compiles the plan for one of `workers`. Nil is an internal error, because the control loop has
    /// compiled the same bytes before.
    package init?(_ config: RecordedConfig, workers: Int) {
        guard let plan = try? config.plan(workers: workers) else { return nil }
        self.plan = Guarded(plan)
    }

    /// The plan for the first caller, nil for all later ones.
    func take() -> Plan? { plan.withLock { $0.take() } }
}
