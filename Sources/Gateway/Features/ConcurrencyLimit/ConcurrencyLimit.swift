import Basics
import HTTP
import HTTPClient
import Promises
import Reactor

/// `max_concurrent` and `queue` (bulkhead): limits the calls to one backend at the same time; a
/// limited number of others waits for a limited time. One for each backend and worker, shared by the
/// plans before and after a reload.
final class ConcurrencyLimit {
    /// From the newest plan.
    private var plan: ConcurrencyLimitPlan
    private let loop: any Loop
    private let permits = Permits()
    private var queue = WaitQueue<QueuedCall>()
    /// Due at the first deadline of the queue, or before; nil while nothing waits.
    private var expiry: Timer?

    /// Whether a call may start.
    enum Admission {
        /// It has a permit.
        case admitted(Permit)
        /// It will have one, or fail with `queue_full`.
        case queued(LocalPromise<Permit>)
        case refused
    }

    /// A call in the queue.
    private final class QueuedCall {
        var resolver: LocalResolver<Permit>?

        init(_ resolver: consuming LocalResolver<Permit>) {
            self.resolver = consume resolver
        }
    }

    init(_ plan: ConcurrencyLimitPlan, loop: any Loop) {
        self.plan = plan
        self.loop = loop
        // Unowned: a call in flight may keep its permit longer than this object lives, and `deinit`
        // ends the notifications.
        permits.afterRelease { [unowned self] in serveQueue() }
    }

    deinit {
        permits.afterRelease(nil)
        expiry?.cancel()
    }

    /// Calls that have a permit, and calls in the queue.
    var load: (running: Int, waiting: Int) { (permits.inUse, queue.count) }

    /// How many may run, and how many may wait.
    var limits: (running: Int, waiting: Int) { (plan.concurrentMax, plan.queueMax) }

    /// Limits by another plan from now on. Calls that have a permit or wait for one still count; a
    /// call that waits keeps its deadline.
    func adopt(_ plan: ConcurrencyLimitPlan) {
        self.plan = plan
        serveQueue()
    }

    /// - Parameter isHedged: whether the call may have two requests at the same time
    func filter(isHedged: Bool) -> CallFilter {
        CallFilter { next in
            CallService { [self] request, context in
                switch admit(context) {
                case .admitted(let permit):
                    next(request.with(permit), context).holding(permit)
                case .queued(let permit):
                    // The permit may belong to the other request, whose response cancels this one
                    // in the same loop iteration. So it is sent in the next one.
                    (isHedged ? permit.delayed(by: .zero) : permit)
                        .then { permit in next(request.with(permit), context).holding(permit) }
                case .refused: refuse(request, context)
                }
            }
        }
    }

    /// The filter of requests that are passed through, which hold their permit until the last byte of
    /// the response.
    var proxyFilter: CallFilter {
        CallFilter { next in
            CallService { [self] request, context in
                switch admit(context) {
                case .admitted(let permit): next(request.holding(permit), context)
                case .queued(let permit):
                    permit.then { permit in next(request.holding(permit), context) }
                case .refused: refuse(request, context)
                }
            }
        }
    }

    private func refuse(
        _ request: CallRequest, _ context: RequestContext
    ) -> LocalPromise<ClientResponse> {
        request.recordRefusal(.queueFull, of: context, at: loop.now)
        return context.local.error(CallFailure.queueFull)
    }

    /// Requests a permit, after making room if few are left.
    private func admit(_ context: RequestContext) -> Admission {
        if permits.isShort(below: plan.concurrentMax) { context.makeRoom() }
        return admit(on: context.local)
    }

    /// Requests a permit. The work that starts with it holds it until it has ended.
    func admit(on local: LocalContext) -> Admission {
        if let permit = permits.take(below: plan.concurrentMax) {
            assert(permits.inUse <= plan.concurrentMax, "more calls than the limit run")
            return .admitted(permit)
        }
        guard queue.count < plan.queueMax else { return .refused }
        return .queued(enqueue(on: local))
    }

    /// Whether a call waits only while no permit is free, and with a deadline. For assertions.
    private var isConsistent: Bool {
        queue.count == 0 || permits.inUse >= plan.concurrentMax && expiry != nil
    }

    // MARK: Queue

    private func enqueue(on local: LocalContext) -> LocalPromise<Permit> {
        let resolver = LocalResolver<Permit>(on: local)
        let promise = resolver.promise
        let call = QueuedCall(consume resolver)
        let ticket = queue.join(call, until: loop.now + plan.wait)
        call.resolver?.onCancel { [self] _ in leave(ticket) }
        armExpiry()
        assert(isConsistent, "a call waits although a permit is free")
        return promise
    }

    /// A permit was released: it goes to the call that waits longest.
    private func serveQueue() {
        guard queue.count > 0 else { return }
        while permits.inUse < plan.concurrentMax, let call = queue.takeFirst() {
            // A call that was cancelled in this loop iteration is still in the queue.
            guard let resolver = call.resolver.take(), !resolver.isCancelled,
                let permit = permits.take(below: plan.concurrentMax)
            else { continue }
            assert(permits.inUse <= plan.concurrentMax, "more calls than the limit run")
            resolver.fulfill(permit)
        }
        armExpiry()
        assert(isConsistent, "a call waits although a permit is free")
    }

    private func leave(_ ticket: WaitQueue<QueuedCall>.Ticket) {
        queue.leave(ticket)
        armExpiry()
    }

    /// One timer for the whole queue. It is not moved when its entry leaves early: a timer that
    /// fires for nothing is cheaper.
    private func armExpiry() {
        guard let due = queue.nextDeadline else {
            expiry?.cancel()
            expiry = nil
            return
        }
        guard expiry == nil else { return }
        expiry = loop.timer(after: due - loop.now) { [unowned self] in expire() }
    }

    private func expire() {
        expiry = nil
        assert(permits.inUse >= plan.concurrentMax, "a call expires although a permit is free")
        while let call = queue.takeExpired(at: loop.now) {
            call.resolver.take()?.reject(CallFailure.queueFull)
        }
        armExpiry()
    }
}

extension CallRequest {
    /// The same request, which holds the permit until the last byte of its response, or until a
    /// retry.
    fileprivate func holding(_ permit: Permit) -> CallRequest {
        proxied?.permit = permit
        return with(permit)
    }

    /// The same request with the permit for its stream.
    fileprivate func with(_ permit: Permit) -> CallRequest {
        var request = self
        request.permit = permit
        return request
    }
}

extension LocalPromise {
    /// The same promise; the permit is held until it has settled.
    fileprivate func holding(_ permit: Permit) -> LocalPromise {
        whenSettled { _ in permit.release() }
        return self
    }
}
