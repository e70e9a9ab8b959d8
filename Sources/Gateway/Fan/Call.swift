import HTTP
import HTTPClient
import Promises

/// One call of an endpoint, ready to be made: request builder, chain, decoder.
final class Call {
    let plan: CallPlan
    let builder: RequestBuilder
    let service: CallService
    let decoder: Decoder
    let meter: CallMeter

    init(
        plan: CallPlan, builder: RequestBuilder, service: CallService, decoder: Decoder,
        meter: CallMeter
    ) {
        self.plan = plan
        self.builder = builder
        self.service = service
        self.decoder = decoder
        self.meter = meter
    }

    /// The call as a promise chain: build the request, send it through the call's chain, make a part
    /// of the answer. Rejects with a `FailedCall`, which `run` knows then.
    func start(_ run: FanOutState) -> LocalPromise<Part> {
        send(run).mapResult { [self] answer in try part(of: answer, run) }
    }

    private func send(_ run: FanOutState) -> LocalPromise<ClientResponse> {
        do throws(CallFailure) {
            let request = try builder.request(
                with: run.values, deadline: run.deadline,
                askedHost: run.askedHost(of: plan))
            run.began(plan)
            return service(request, run.exchange)
        } catch {
            return run.exchange.local.error(error)
        }
    }

    private func part(
        of answer: Result<ClientResponse, any Error>, _ run: FanOutState
    ) throws(FailedCall) -> Part {
        do {
            let part = try decoder.part(of: answer.get())
            meter.countSuccess()
            return run.kept(part, of: plan)
        } catch {
            throw noted(error, run)
        }
    }

    /// The call failed, or cannot be made.
    func noted(_ error: any Error, _ run: FanOutState) -> FailedCall {
        let failed = run.noted(error, of: plan)
        meter.count(failed.failure.kind)
        return failed
    }
}
