import Basics
import HTTP
import HTTPClient
import JSONText
import Promises
import Reactor

/// One call of an endpoint, ready to be made: request builder, chain, decoder.
struct Call {
    let plan: CallPlan
    let builder: RequestBuilder
    let service: CallService
    let decoder: Decoder

    /// The call as a promise chain: build the request, send it through the call's chain, decode the
    /// answer. Every failure becomes a `CallFailure` and is noted in `run`.
    func start(_ run: Run) -> Local<Part> {
        run.exchange.core.firstly { service(try request(for: run), run.exchange) }
            .map(decoder.part)
            .mapError { run.noted($0, of: plan) }
    }

    private func request(for run: Run) throws(CallFailure) -> CallRequest {
        try builder.request(with: run.values, deadline: run.deadline)
    }
}
