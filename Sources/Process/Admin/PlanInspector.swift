import Assembly
import Gateway
import HTTP

/// Describes the plan in use, for the admin pages. It compiles the plan at the first request for a
/// description, and keeps it until the next reload: without such a request the control
/// loop holds no plan.
final class PlanInspector {
    private var compiled: Plan?

    /// A reload: the next description needs another plan.
    func forgetPlan() { compiled = nil }

    func descriptions(of config: RecordedConfig, workers: Int) -> PlanDescriptions {
        PlanDescriptions(
            summary: { [self] in plan(of: config, workers).map { PlanPrinter($0).summary } },
            explanation: { [self] method, target in
                plan(of: config, workers).map {
                    Explanation($0, method, target, masksLiterals: true).text
                }
            })
    }

    private func plan(of config: RecordedConfig, _ workers: Int) -> Result<Plan, PlanError> {
        if let compiled { return .success(compiled) }
        return Result { () throws(PlanError) in
            let plan = try config.plan(workers: workers)
            compiled = plan
            return plan
        }
    }
}
