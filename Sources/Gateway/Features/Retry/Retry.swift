import Basics
import HTTP
import HTTPClient
import Promises
import Reactor

/// Retries a call that failed in one of the ways that its plan lists: a limited number of times,
/// after an exponential backoff with jitter, as long as the request's deadline leaves time for it.
struct Retry {
    private let plan: RetryPlan
    /// Of the backend.
    private let budget: RetryBudget
    private let loop: any Loop

    init(_ plan: RetryPlan, budget: RetryBudget, loop: any Loop) {
        self.plan = plan
        self.budget = budget
        self.loop = loop
    }

    var filter: CallFilter {
        CallFilter { next in
            CallService { request, context in
                budget.beginCall()
                let response = attempt(1, next, request, context)
                response.whenSettled { [budget] _ in budget.endCall() }
                return response
            }
        }
    }

    private func attempt(
        _ number: Int, _ next: CallService, _ request: CallRequest, _ context: RequestContext,
        holding permit: Permit? = nil
    ) -> LocalPromise<ClientResponse> {
        assert(number <= plan.attempts, "more attempts than the plan allows")
        let response = next(request, context)
        if let permit { response.whenSettled { _ in permit.release() } }
        guard number < plan.attempts else { return response }
        // One handler for both outcomes: a `recover` after a `then` would also receive the failure
        // of a later attempt and start counting again.
        return response.thenResult { outcome in
            guard mayRetry(request, after: outcome),
                let delay = delay(before: number + 1, after: try? outcome.get(), request),
                let permit = budget.permit()
            else { return context.local.value(try outcome.get()) }
            // The next attempt takes a permit of its own: with the present one held, there might be
            // none.
            if case .success(let response) = outcome {
                request.drop(response, of: context, at: loop.now)
            } else {
                request.proxied?.permit.take()?.release()
            }
            return retry(number, after: delay, next, request, context, permit)
        }
    }

    private func retry(
        _ number: Int, after delay: Duration, _ next: CallService, _ request: CallRequest,
        _ context: RequestContext, _ permit: Permit
    ) -> LocalPromise<ClientResponse> {
        assert(budget.isKept, "more retries than the budget allows")
        // Not the promise function `after(_:)`, whose timer would outlive a client that disconnects
        // meanwhile.
        return context.local.value(()).delayed(by: delay)
            .then {
                attempt(
                    number + 1, next, request.repeated(.retry, for: context, at: loop.now),
                    context, holding: permit)
            }
    }

    /// A request that is not idempotent is retried only if nothing of it was sent.
    private func mayRetry(
        _ request: CallRequest, after outcome: Result<ClientResponse, any Error>
    ) -> Bool {
        switch outcome {
        case .success(let response):
            return request.method.isIdempotent && request.mayBeLost
                && plan.statuses.contains(Int(response.status.code))
        case .failure(let failure as ClientFailure):
            guard failure.isSafeToRetry(request.method), request.isRepeatable,
                !failure.wasSent || request.mayBeLost
            else { return false }
            switch CallFailure.connection(failure).kind.facts.retry {
            case .never: return false
            case .unsent: return !failure.wasSent && plan.onConnect
            case .lost: return failure.wasSent ? plan.onTerminated : plan.onConnect
            }
        case .failure: return false
        }
    }

    /// Half to all of a backoff that doubles each time, or the backend's `Retry-After`; nil if the
    /// deadline leaves no time for it.
    private func delay(
        before number: Int, after response: ClientResponse?, _ request: CallRequest
    ) -> Duration? {
        let retryAfter = response.flatMap { $0.fields[.retryAfter] }.flatMap {
            RetryAfter.seconds($0.bytes, at: loop.unixTime)
        }
        let backoff = plan.backoff.inNanoseconds << Int64(min(number - 2, 10))
        let jittered = backoff / 2 + Int64(loop.entropy.below(Int(max(1, backoff / 2))))
        let delay = retryAfter.map { Duration.seconds($0) } ?? .nanoseconds(jittered)
        return loop.now + delay < request.deadline ? delay : nil
    }
}
