import HTTP
import HTTPClient
import Promises
import Reactor

/// Lets a bounded number of calls go to one backend at once; a bounded number waits in line for a
/// bounded time. One for each backend and core.
final class Bulkhead {
    private let plan: BulkheadPlan
    private let loop: any Loop
    private var running = 0
    private var waiting = WaitingLine()

    init(_ plan: BulkheadPlan, loop: any Loop) {
        self.plan = plan
        self.loop = loop
    }

    /// Calls under way, and calls in line.
    var load: (running: Int, waiting: Int) { (running, waiting.count) }

    /// Refuses with `queue_full`, or lets the call through when there is a slot for it.
    func filter(_ next: @escaping CallService) -> CallService {
        { request, exchange in
            guard let slot = self.slot(on: exchange.core) else {
                return self.run(next, request, exchange)
            }
            return slot.then { self.run(next, request, exchange) }
        }
    }

    /// The slot is the caller's already when this is called.
    private func run(
        _ next: CallService, _ request: CallRequest, _ exchange: Exchange
    ) -> Local<ClientResponse> {
        let call = next(request, exchange)
        call.whenSettled { _ in self.release() }
        return call
    }

    /// Takes a slot at once (nil), or promises one.
    private func slot(on core: Core) -> Local<Void>? {
        if running < plan.concurrentMax {
            running += 1
            return nil
        }
        guard waiting.count < plan.queueMax else {
            return core.error(CallFailure(kind: .queueFull, retryAfter: 1))
        }
        return waiting.join(on: core)
            .timeout(plan.wait, error: CallFailure(kind: .queueFull, retryAfter: 1))
    }

    /// Hands the slot to whoever waits longest, else gives it back.
    private func release() {
        if !waiting.admitFirst() { running -= 1 }
    }
}
