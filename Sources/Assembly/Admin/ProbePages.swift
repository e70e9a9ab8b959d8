import HTTP
import Promises

/// The pages of the liveness and readiness probes, which depend on the workers' heartbeats.
extension AdminPages {
    static func liveness(_ pages: AdminPages, _: Request, _ exchange: Exchange) -> LocalPromise<
        AdminResponse
    > {
        exchange.local.value(response(for: pages.process.liveness, "alive\n"))
    }

    static func readiness(_ pages: AdminPages, _: Request, _ exchange: Exchange) -> LocalPromise<
        AdminResponse
    > {
        exchange.local.value(response(for: pages.process.readiness, "ready\n"))
    }

    private static func response(for health: ProcessHealth, _ good: String) -> AdminResponse {
        switch health {
        case .good: .text(.ok, good)
        case .notServing: .text(.serviceUnavailable, "not ready\n")
        case .workersSilent(let workers):
            .text(.serviceUnavailable, "\(WorkerMonitor.silence(of: workers))\n")
        }
    }
}
