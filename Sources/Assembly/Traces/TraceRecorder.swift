import Basics
import Gateway
import HTTP
import HTTPServer
import Reactor

/// Collects the sampled requests of one worker and passes them on in batches. Owned by the worker's
/// recorder, replaced by a reload.
///
/// A request is sampled by the decision that its trace context has, or at its end: if it failed, was
/// partial, or was slow.
final class TraceRecorder {
    private let loop: any Loop
    private let slow: Duration
    private let backlog: SpanBacklog
    private let proxies: TrustedProxies?
    private let deliver: ([TracedRequest]) -> Void
    private var batch: [TracedRequest] = []
    private var timer: Timer?

    /// Enough that a batch costs little per request, and few enough that the control loop is not
    /// occupied for long.
    private static let batchMax = 64
    private static let batchDelay = Duration.milliseconds(200)

    /// - Parameter deliver: receives each batch
    init(
        _ plan: TracePlan, proxies: TrustedProxies?, loop: any Loop, backlog: SpanBacklog,
        deliver: @escaping ([TracedRequest]) -> Void
    ) {
        slow = plan.slow
        self.proxies = proxies
        self.loop = loop
        self.backlog = backlog
        self.deliver = deliver
    }

    deinit { timer?.cancel() }

    /// Records a request that has ended, if it is sampled.
    func record(_ end: RequestEnd, after duration: Duration) {
        guard isSampled(end, duration),
            backlog.reserve(TracedRequest.spanCount(of: end.context.record))
        else { return }
        batch.append(TracedRequest(end, loop, proxies: proxies))
        if batch.count >= Self.batchMax { return flush() }
        if timer == nil {
            timer = loop.timer(after: Self.batchDelay) { [unowned self] in flush() }
        }
    }

    private func isSampled(_ end: RequestEnd, _ duration: Duration) -> Bool {
        if end.context.trace.isSampled || duration > slow { return true }
        switch end.outcome {
        case .failed, .partial, .truncated, .cutOff: return true
        case .ok, .rejected, .clientGone: return false
        }
    }

    /// Passes on what is collected.
    func flush() {
        timer?.cancel()
        timer = nil
        guard !batch.isEmpty else { return }
        deliver(batch)
        batch = []
    }
}
