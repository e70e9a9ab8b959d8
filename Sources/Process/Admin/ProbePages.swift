import Basics
import HTTP
import Promises

/// The pages of the liveness and readiness probes.
extension AdminPages {
    static func liveness(
        _ pages: AdminPages, _ request: Request, _ exchange: Exchange
    ) -> LocalPromise<AdminResponse> {
        exchange.local.value(pages.response(for: pages.process.liveness, "alive\n", request))
    }

    static func readiness(
        _ pages: AdminPages, _ request: Request, _: Exchange
    ) -> LocalPromise<AdminResponse> {
        pages.process.readiness.map { pages.response(for: $0, "ready\n", request) }
    }

    private func response(
        for health: HealthStatus, _ good: String, _ request: Request
    ) -> AdminResponse {
        let body =
            if isVerbose(request.head) {
                health.lines
            } else {
                health.isGood ? good : health.problems.map { $0 + "\n" }.joined()
            }
        return .text(health.isGood ? .ok : .serviceUnavailable, body)
    }

    /// Whether the response lists all checks. Probes accept every request, also one that a foreign
    /// web page caused, and then reveal no more than they must.
    private func isVerbose(_ head: RequestHead) -> Bool {
        head.target.parameters.contains { String($0.name) == "verbose" }
            && adminGuard.permitsDetails(head)
    }
}
