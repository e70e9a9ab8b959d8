import Assembly
import Gateway
import Promises

/// The result of a probe: its checks, each with the reason if it failed.
struct HealthStatus {
    struct Check {
        /// `workers`
        let name: String
        /// Nil if the check passed.
        let problem: String?
    }

    let checks: [Check]

    var isGood: Bool { problems.isEmpty }

    var problems: [String] { checks.compactMap(\.problem) }

    /// One line for each check: `workers: failed: worker 0 does not answer`.
    var lines: String {
        checks.map { check in
            "\(check.name): " + (check.problem.map { "failed: \($0)" } ?? "ok") + "\n"
        }.joined()
    }
}

extension AdministeredProcess {
    /// Bad if a worker has not answered for so long that a restart is the only remedy.
    var liveness: HealthStatus {
        HealthStatus(checks: [workersCheck(silentFor: WorkerMonitor.liveLimit)])
    }

    /// Whether clients should send requests. Waits for the workers only if a backend is required,
    /// and then no longer than any page.
    var readiness: LocalPromise<HealthStatus> {
        let required = diagnostics.requiredBackends
        guard !required.isEmpty else {
            return monitor.local.value(HealthStatus(checks: ownChecks))
        }
        return monitor.reports().map { [self] workers in
            HealthStatus(
                checks: ownChecks + required.map { Self.check(ofBackend: $0, workers) })
        }
    }

    private var ownChecks: [HealthStatus.Check] {
        let phase = diagnostics.phase
        return [
            HealthStatus.Check(
                name: "serving", problem: phase == .serving ? nil : phase.rawValue),
            workersCheck(silentFor: WorkerMonitor.readyLimit),
        ]
    }

    private func workersCheck(silentFor limit: Duration) -> HealthStatus.Check {
        let silent = monitor.workersSilent(for: limit)
        return HealthStatus.Check(
            name: "workers", problem: silent.isEmpty ? nil : WorkerMonitor.silence(of: silent))
    }

    /// A backend is down if no worker can use it: workers check it independently, and a single one
    /// that cannot reach it for a moment must not take the process out of service.
    private static func check(
        ofBackend name: String, _ workers: [WorkerReport]
    ) -> HealthStatus.Check {
        let states = workers.compactMap(\.snapshot).flatMap(\.backendDetails).filter {
            $0.name == name && $0.isRequiredForReadiness
        }
        let isDown = !states.isEmpty && states.allSatisfy { !$0.isUsable }
        return HealthStatus.Check(
            name: "backend \(name)", problem: isDown ? "no host of \(name) is usable" : nil)
    }
}
