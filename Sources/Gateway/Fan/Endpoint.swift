import Basics
import HTTP
import HTTPClient
import JSONText
import Promises
import Reactor

/// One route's work, as the contract draws it:
///
///     parse -> validate -> any(calls) -> aggregate with requiredValue(for:) -> answer
///
/// The body, the padding and the deadline are filters around it (`Chain`).
final class Endpoint {
    private let plan: EndpointPlan
    private let fanOut: FanOut
    private let aggregate: Aggregate
    private let failed: FailedAnswer
    private let loop: any Loop

    init(_ plan: EndpointPlan, _ calls: [Call], loop: any Loop) {
        self.plan = plan
        self.loop = loop
        fanOut = FanOut(calls, graph: plan.graph)
        aggregate = Aggregate(plan)
        failed = FailedAnswer(plan: plan)
    }

    /// Never rejects but by cancellation: every failure is an answer too.
    func answer(_ request: Request, _ exchange: Exchange) -> LocalPromise<Response> {
        let run: FanOutState
        do throws(RefusedRequest) {
            run = try parse(request, exchange)
        } catch {
            return exchange.local.value(error.answer(to: exchange))
        }
        return fanOut.any(run)
            .map { [self] parts in try aggregate.answer(parts, run) }
            .recover { [self] error in exchange.local.value(try failed.answer(error, run)) }
    }

    /// Parameters and body, checked; every mistake of the client at once.
    private func parse(_ request: Request, _ exchange: Exchange) throws(RefusedRequest)
        -> FanOutState
    {
        let values = try plan.values(
            of: request.head, body: try RefusedRequest.body(of: request), exchange: exchange)
        return FanOutState(values: values, exchange: exchange, loop: loop, plan: plan)
    }
}
