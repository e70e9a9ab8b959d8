import Basics
import HTTP
import HTTPClient
import Promises
import Reactor

/// Leaves a backend alone that fails too often. One for each backend and core, so it is shared by
/// all calls to it.
final class CircuitBreaker {
    private var state: CircuitBreakerState
    private let loop: any Loop

    init(_ plan: BreakerPlan, loop: any Loop) {
        state = CircuitBreakerState(plan)
        self.loop = loop
    }

    var isOpen: Bool { state.isOpen }

    /// Refuses with `breaker_open`, or lets the call through and learns from its end.
    func filter(_ next: @escaping CallService) -> CallService {
        { request, exchange in
            let permit = self.state.permit(at: self.loop.now)
            if case .refused(let wait) = permit {
                var failure = CallFailure(kind: .breakerOpen)
                failure.retryAfter = Int((wait.inNanoseconds + 999_999_999) / 1_000_000_000)
                return exchange.core.error(failure)
            }
            let attempt = next(request, exchange)
            attempt.whenSettled { result in
                self.state.ended(permit, Self.sample(of: result), at: self.loop.now)
            }
            return attempt
        }
    }

    /// 5xx and every failure of the connection count; 4xx never does. A call that was given up tells
    /// something only if it was given up for being slow; one that we refused ourselves tells nothing.
    static func sample(of result: Result<ClientResponse, any Error>) -> CircuitBreakerState.Sample {
        switch result {
        case .success(let response): response.status.code >= 500 ? .failure : .success
        case .failure(let cancelled as Cancelled):
            (cancelled.cause as? CallFailure)?.isTimeout == true ? .failure : .none
        // This process lacked memory or descriptors, which says nothing about the backend.
        case .failure(let failure as ClientFailure) where failure.isLocal: .none
        case .failure(let error): (error as? CallFailure)?.isRefusal == true ? .none : .failure
        }
    }
}
