import Basics
import HTTP
import HTTPClient
import Promises
import Reactor

/// Asks every host of a backend how it is, again and again, until it is told to stop or let go of.
///
/// Checks use the same connections as calls, so a host that takes no connections is not well either.
final class HealthChecks {
    private let plan: HealthPlan
    private let requests: [(pool: Pool, request: ClientRequest)]
    private let loop: any Loop
    private let tell: (_ host: Int, _ isGood: Bool) -> Void
    private var timer: Timer?
    private var running: [LocalPromise<Void>] = []

    /// - Parameters:
    ///   - hosts: their pools, and the request of a check
    ///   - tell: what is found out, by host
    init(
        _ plan: HealthPlan, of hosts: [(pool: Pool, request: ClientRequest)], loop: any Loop,
        tell: @escaping (_ host: Int, _ isGood: Bool) -> Void
    ) {
        self.plan = plan
        self.loop = loop
        self.tell = tell
        requests = hosts
        wait(.zero)
    }

    deinit { timer?.cancel() }

    /// Asks nobody any more.
    func stop() {
        timer?.cancel()
        timer = nil
        for check in running { check.cancel() }
        running = []
    }

    private func wait(_ time: Duration) {
        timer = loop.timer(after: time) { [weak self] in self?.askAll() }
    }

    private func askAll() {
        running = requests.indices.map { host in
            requests[host].pool.send(requests[host].request)
                .timeout(plan.patience)
                .map { Optional($0.status.code / 100 == 2) }
                .recover { [loop] error in
                    // A check that was cancelled says nothing about the host.
                    if error is Cancelled { throw error }
                    // Nor does one for which this process had no descriptor.
                    let isLocal = (error as? ClientFailure)?.isLocal == true
                    return loop.local.value(isLocal ? nil : false)
                }
                .map { [weak self] isGood in
                    if let isGood { self?.tell(host, isGood) }
                }
        }
        wait(plan.every)
    }
}
