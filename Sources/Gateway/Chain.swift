import HTTP
import HTTPClient
import Promises
import Reactor

/// The architecture in one place: the three chains that a request travels, as lists, each entry with
/// the reason for its place. Built once per plan and core; a request only runs through it.
struct Chain {
    let loop: any Loop
    let backends: [Backend]
    /// Records the calls of a request for `explain`; nil while serving.
    var witness: CallRecorder?

    /// Every request before its endpoint is known. The responses that no endpoint gives pass it too:
    /// 404, 405, and the rejections of the server itself, such as 400, 408, 431 and 503.
    var door: [Filter<Request, Response>] {
        let filters: [Filter<Request, Response>?] = [
            // No filter yet. The order to keep: filters that complete every response (headers)
            // come first, so that rejections by the filters below have these headers, too. Then
            // the client's address, the lists that allow or deny it, and what costs more.
        ]
        return filters.compactMap { $0 }
    }

    /// A request to an endpoint, from its head to its answer.
    func endpoint(_ plan: EndpointPlan, _ state: EndpointState) -> Service<Request, Response> {
        let padding = plan.padding.map { Padding.filter($0, loop: loop) }
        let refusal = [padding].compactMap { $0 }.around(InFlightLimit.refuse)
        let filters: [Filter<Request, Response>?] = [
            // Above the padding and the deadline: both count from the request's last byte. Above the
            // limit: a client that sends its body slowly must not take the permits of others.
            BodyReading.filter(upTo: plan.bodyMax, loop: loop),
            // Above the padding: an answer that is held back holds its permit. The 503 of this filter
            // is padded too, but holds none.
            plan.inFlightMax.map {
                InFlightLimit.filter(max: $0, state.inFlight, refusal: refusal)
            },
            // Above everything that answers, so that good and bad answers leave at the same time.
            padding,
            // Below the padding, which has the last word on when an answer leaves; above every call,
            // because they all have the same deadline.
            Deadline.filter(plan.deadline),
        ]
        let endpoint = Endpoint(plan, calls(of: plan), loop: loop)
        return filters.compactMap { $0 }.around(Service { endpoint.answer($0, $1) })
    }

    /// One call of an endpoint, from its request to its backend's answer.
    func call(_ plan: CallPlan, deadline: Duration) -> CallService {
        let backend = backends[plan.backend]
        let filters: [CallFilter?] = [
            // Above all, to see all of it.
            witness?.ofCall(plan),
            // Above all: waiting in the queue, retries and hedges share one limit.
            CallTimeout.filter(plan.timeout, deadline: deadline, loop: loop),
            // Above retry: the second request is a whole one, with tries of its own.
            plan.hedgeAfter.map { Hedge.filter(after: $0) },
            // Above the breaker: each attempt is a sample of its own.
            plan.retry.map { Retry($0, budget: backend.retryBudget, loop: loop).filter },
            // Above the concurrency limit: calls that the breaker refuses need no place in its queue.
            backend.breaker?.filter,
            // Lowest: a permit is held exactly as long as a connection may be used.
            backend.concurrencyLimit?.filter,
            // Below all, to see every request that goes out.
            witness?.ofRequest(plan, to: backend.plan),
        ]
        return filters.compactMap { $0 }.around(CallService { backend.send($0, $1) })
    }

    private func calls(of plan: EndpointPlan) -> [Call] {
        let names = plan.calls.map(\.name)
        return plan.calls.map { call in
            Call(
                plan: call,
                builder: RequestBuilder(
                    call, backendFields: backends[call.backend].plan.fields, params: plan.params,
                    calls: names),
                service: self.call(call, deadline: plan.deadline),
                decoder: Decoder(plan: call), meter: backends[call.backend].meter)
        }
    }
}
