import Basics
import HTTP
import HTTPClient
import Promises
import Reactor

/// Checks every host of a backend periodically, until it is stopped or released.
///
/// Checks use the same connection pools as calls, so a host that refuses connections is unhealthy,
/// too.
final class HealthChecks {
    private let plan: HealthPlan
    private let requests: [(pool: Pool, request: ClientRequest)]
    private let loop: any Loop
    private let report: (_ host: Int, HealthCheckResult) -> Void
    private var timer: Timer?
    private var running: [LocalPromise<Void>] = []

    /// - Parameters:
    ///   - hosts: their pools, and the request of a check
    ///   - report: receives the result of each check
    init(
        _ plan: HealthPlan, of hosts: [(pool: Pool, request: ClientRequest)], loop: any Loop,
        report: @escaping (_ host: Int, HealthCheckResult) -> Void
    ) {
        self.plan = plan
        self.loop = loop
        self.report = report
        requests = hosts
        scheduleChecks(after: .zero)
    }

    deinit { timer?.cancel() }

    /// Cancels the checks that run and starts no more.
    func stop() {
        timer?.cancel()
        timer = nil
        for check in running { check.cancel() }
        running = []
    }

    /// Whether another round of checks follows. For assertions.
    var isScheduled: Bool { timer?.due != nil }

    private func scheduleChecks(after time: Duration) {
        timer = loop.timer(after: time) { [weak self] in self?.checkAllHosts() }
    }

    private func checkAllHosts() {
        let limit = plan.timeout
        running = requests.indices.compactMap { host in
            // The check would wait for calls until it times out, which says nothing about the host.
            if requests[host].pool.isFull { return nil }
            return requests[host].pool.send(requests[host].request)
                .timeout(limit, error: CallFailure.responseTimeout(limit: limit))
                .map { Optional(HealthCheckResult($0.status)) }
                .recover { [loop] error in
                    // A check that was cancelled says nothing about the host.
                    if error is Cancelled { throw error }
                    // Nor does a check for which this process had no descriptor.
                    let isLocal = (error as? ClientFailure)?.isLocal == true
                    let failure = CallFailure(error)
                    return loop.local.value(
                        isLocal ? nil : .failed(failure.kind, detail: failure.detail))
                }
                .map { [weak self] result in
                    if let result { self?.report(host, result) }
                }
        }
        scheduleChecks(after: plan.every)
    }
}
