import HTTP
import Promises

/// The probes: liveness and readiness, by the workers' heartbeats.
extension AdminPages {
    static func liveness(_ pages: AdminPages, _ exchange: Exchange) -> LocalPromise<AdminAnswer> {
        exchange.local.value(answer(to: pages.process.liveness, "alive\n"))
    }

    static func readiness(_ pages: AdminPages, _ exchange: Exchange) -> LocalPromise<AdminAnswer> {
        exchange.local.value(answer(to: pages.process.readiness, "ready\n"))
    }

    private static func answer(to health: ProcessHealth, _ good: String) -> AdminAnswer {
        switch health {
        case .good: .text(.ok, good)
        case .notServing: .text(.serviceUnavailable, "not ready\n")
        case .workersSilent(let workers):
            .text(.serviceUnavailable, "\(WorkerMonitor.silence(of: workers))\n")
        }
    }
}
