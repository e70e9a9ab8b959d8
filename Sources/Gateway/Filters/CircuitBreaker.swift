import Basics
import HTTP
import HTTPClient
import Promises
import Reactor

/// Stops calls to a backend that fails too often. One for each backend and worker, so that all
/// calls to the backend share it.
final class CircuitBreaker {
    private var state: CircuitBreakerState
    private let loop: any Loop

    init(_ plan: BreakerPlan, loop: any Loop) {
        state = CircuitBreakerState(plan)
        self.loop = loop
    }

    var isOpen: Bool { state.isOpen }
    var phase: CircuitBreakerState.Phase { state.phase }

    var filter: CallFilter {
        CallFilter { next in
            CallService { [self] request, exchange in
                attempt(
                    on: exchange.local, sample: Self.sample,
                    onRefusal: {
                        request.recordRefusal(.breakerOpen, of: exchange, at: loop.now)
                    },
                    { next(request, exchange) })
            }
        }
    }

    /// Starts an attempt unless the breaker is open, in which case it fails with `breaker_open`,
    /// and records how the attempt ends.
    ///
    /// Always inlined, so that being generic over the response costs neither a thunk nor an
    /// allocation.
    @inline(__always)
    func attempt<Response>(
        on local: LocalContext,
        sample: @escaping (Result<Response, any Error>) -> CircuitBreakerState.Sample,
        onRefusal: () -> Void,
        _ send: () -> LocalPromise<Response>
    ) -> LocalPromise<Response> {
        let admission = state.admitCall(at: loop.now)
        if case .refused(let wait) = admission {
            onRefusal()
            let seconds = Int((wait.inNanoseconds + 999_999_999) / 1_000_000_000)
            return local.error(CallFailure.breakerOpen(retryAfter: seconds))
        }
        let attempt = send()
        attempt.whenSettled { [self] result in
            state.recordCall(admission, sample(result), at: loop.now)
        }
        return attempt
    }

    /// The body of a response that had counted broke off.
    func recordTruncation() {
        state.recordCall(.allowed, .failure, at: loop.now)
    }

    /// 5xx counts as a failure, other statuses do not; the table of failures decides about errors.
    static func sample(of result: Result<ClientResponse, any Error>) -> CircuitBreakerState.Sample {
        switch result {
        case .success(let response): response.status.code >= 500 ? .failure : .success
        case .failure(let error):
            CallFailure(error).kind.facts.countsForBreaker ? .failure : .none
        }
    }
}
