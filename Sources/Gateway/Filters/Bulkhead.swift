import HTTP
import HTTPClient
import Promises

/// Lets a bounded number of calls go to one backend at once; a bounded number waits in line for a
/// bounded time. One for each backend and core.
final class Bulkhead {
    private let plan: BulkheadPlan
    private var running = 0
    private let line = WaitingLine<Slot>()

    init(_ plan: BulkheadPlan) {
        self.plan = plan
    }

    /// Calls under way, and calls in line.
    var load: (running: Int, waiting: Int) { (running, line.count) }

    /// The right to one call. Who lets go of it gives it back, on whatever way a call ends.
    final class Slot {
        private let bulkhead: Bulkhead

        fileprivate init(of bulkhead: Bulkhead) {
            self.bulkhead = bulkhead
        }

        deinit { bulkhead.release() }
    }

    /// Refuses with `queue_full`, or lets the call through when there is a slot for it.
    func filter(_ next: @escaping CallService) -> CallService {
        { request, exchange in
            if self.running < self.plan.concurrentMax {
                self.running += 1
                return self.run(next, request, exchange, Slot(of: self))
            }
            let full = CallFailure(kind: .queueFull, retryAfter: 1)
            guard self.line.count < self.plan.queueMax else { return exchange.core.error(full) }
            return self.line.join(on: exchange.core)
                .timeout(self.plan.wait, error: full)
                .then { slot in self.run(next, request, exchange, slot) }
        }
    }

    /// The slot lives until the call has settled.
    private func run(
        _ next: CallService, _ request: CallRequest, _ exchange: Exchange, _ slot: Slot
    ) -> Local<ClientResponse> {
        let call = next(request, exchange)
        call.whenSettled { _ in withExtendedLifetime(slot) {} }
        return call
    }

    /// A slot is free: it goes to whoever waits longest, else back to the stock.
    private func release() {
        if !line.serve({ Slot(of: self) }) { running -= 1 }
    }
}
