import Basics
import HTTP
import HTTPClient
import Promises
import Reactor

/// Sends a call again that failed in one of the ways that its plan names, a bounded number of times,
/// after a growing and jittered wait, as long as the request's deadline leaves room for it.
struct Retry {
    private let plan: RetryPlan
    /// The backend's.
    private let budget: RetryBudget
    private let loop: any Loop

    init(_ plan: RetryPlan, budget: RetryBudget, loop: any Loop) {
        self.plan = plan
        self.budget = budget
        self.loop = loop
    }

    var filter: CallFilter {
        CallFilter { next in
            CallService { request, exchange in
                budget.callBegan()
                let answer = attempt(1, next, request, exchange)
                answer.whenSettled { [budget] _ in budget.callEnded() }
                return answer
            }
        }
    }

    private func attempt(
        _ number: Int, _ next: CallService, _ request: CallRequest, _ exchange: Exchange,
        holding permit: Permit? = nil
    ) -> LocalPromise<ClientResponse> {
        let answer = next(request, exchange)
        if let permit { answer.whenSettled { _ in permit.release() } }
        guard number < plan.attempts else { return answer }
        // One look at either outcome: behind a `then`, a `recover` would see the failure of a later
        // try as well, and begin to count anew.
        return answer.mapResult { $0 }.then { outcome in
            guard mayRepeat(request, after: outcome),
                let wait = wait(before: number + 1, asked: try? outcome.get(), request),
                let permit = budget.permit()
            else { return exchange.local.value(try outcome.get()) }
            return again(number, after: wait, next, request, exchange, permit)
        }
    }

    private func again(
        _ number: Int, after wait: Duration, _ next: CallService, _ request: CallRequest,
        _ exchange: Exchange, _ permit: Permit
    ) -> LocalPromise<ClientResponse> {
        // Not `after`, whose timer would outlive a client that goes away meanwhile.
        exchange.local.value(()).delayed(by: wait)
            .then { attempt(number + 1, next, request, exchange, holding: permit) }
    }

    /// A request that changes something is sent again only if it never was.
    private func mayRepeat(
        _ request: CallRequest, after outcome: Result<ClientResponse, any Error>
    ) -> Bool {
        switch outcome {
        case .success(let response):
            return request.method.isIdempotent
                && plan.statuses.contains(Int(response.status.code))
        case .failure(let failure as ClientFailure):
            guard failure.isSafeToRetry(request.method) else { return false }
            switch CallFailure.connection(failure).kind.facts.retry {
            case .never: return false
            case .unsent: return !failure.wasSent && plan.onConnect
            case .lost: return failure.wasSent ? plan.onTerminated : plan.onConnect
            }
        case .failure: return false
        }
    }

    /// Half to all of a back-off that doubles each time, or what the backend asked for; nil if there
    /// is no time for it.
    private func wait(
        before number: Int, asked response: ClientResponse?, _ request: CallRequest
    ) -> Duration? {
        let asked = response.flatMap { $0.fields[.retryAfter] }.flatMap { Int64($0.description) }
            .flatMap { $0 < 0 ? nil : $0 }
        let backoff = plan.backoff.inNanoseconds << Int64(min(number - 2, 10))
        let jittered = backoff / 2 + Int64(loop.entropy.below(Int(max(1, backoff / 2))))
        let wait = asked.map { Duration.seconds($0) } ?? .nanoseconds(jittered)
        return loop.now + wait < request.deadline ? wait : nil
    }
}
