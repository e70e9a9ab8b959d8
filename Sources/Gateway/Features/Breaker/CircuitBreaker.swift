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
            CallService { [self] request, context in
                let admission = state.admitCall(at: loop.now)
                if case .refused(let wait) = admission {
                    request.recordRefusal(.breakerOpen, of: context, at: loop.now)
                    return context.local.error(Self.failure(after: wait))
                }
                let response = next(request, context)
                request.whenDecided(
                    response, context,
                    headReceived: { [self] in
                        state.recordHead(admission, $0, at: loop.now)
                    },
                    { [self] in state.recordCall(admission, $0, at: loop.now) })
                return response
            }
        }
    }

    /// Sends a request of the gateway itself, which no record has.
    func sendOwn(
        _ send: () -> LocalPromise<ClientResponse>
    ) -> LocalPromise<ClientResponse> {
        let admission = state.admitCall(at: loop.now)
        if case .refused(let wait) = admission {
            return loop.local.error(Self.failure(after: wait))
        }
        let response = send()
        response.whenSettled { [self] result in
            state.recordCall(admission, .init(ofOwn: result), at: loop.now)
        }
        return response
    }

    private static func failure(after wait: Duration) -> CallFailure {
        .breakerOpen(retryAfter: Int((wait.inNanoseconds + 999_999_999) / 1_000_000_000))
    }
}

extension AttemptSample {
    /// What a request of the gateway itself shows about its backend.
    init(ofOwn result: Result<ClientResponse, any Error>) {
        switch result {
        case .success(let response): self.init(status: response.status.code)
        case .failure(let error): self.init(CallFailure(error).kind)
        }
    }
}
