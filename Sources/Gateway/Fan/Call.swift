import HTTP
import HTTPClient
import Promises

/// One call of an endpoint, ready to be made: request builder, chain, decoder.
struct Call {
    let plan: CallPlan
    let builder: RequestBuilder
    let service: CallService
    let decoder: Decoder
    let meter: CallMeter

    /// The call as a promise chain: build the request, send it through the call's chain, make a part
    /// of the answer. Rejects with a `CallFailure`, which `run` knows then.
    func start(_ run: Run) -> Local<Part> {
        run.exchange.core.firstly { try send(run) }
            .map { response in try kept(decoder.part(of: response), run) }
            .mapError { error in noted(error, run) }
    }

    private func send(_ run: Run) throws(CallFailure) -> Local<ClientResponse> {
        let request = try builder.request(
            with: run.values, deadline: run.deadline, askedHost: run.askedHost(of: plan))
        run.began(plan)
        return service(request, run.exchange)
    }

    private func kept(_ part: Part, _ run: Run) -> Part {
        meter.countSuccess()
        return run.kept(part, of: plan)
    }

    /// The call failed, or cannot be made.
    func noted(_ error: any Error, _ run: Run) -> CallFailure {
        let failure = run.noted(error, of: plan)
        meter.count(failure)
        return failure
    }
}
