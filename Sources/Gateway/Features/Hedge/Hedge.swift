import HTTP
import HTTPClient
import Promises
import Reactor

/// Sends a second request when the first one takes longer than a delay; the first response wins and
/// the other request is cancelled. A response with which the backend states that it cannot serve the
/// request, 429 or a server error, is a failure here.
struct Hedge {
    private let delay: Duration
    /// The statuses that the call accepts.
    private let accepted: [ClosedRange<Int>]
    private let loop: any Loop

    init(after delay: Duration, accepting accepted: [ClosedRange<Int>], loop: any Loop) {
        self.delay = delay
        self.accepted = accepted
        self.loop = loop
    }

    /// A failure before the delay fails the call: repeating failed requests is the task of `retry`.
    var filter: CallFilter {
        CallFilter { next in
            CallService { request, context in
                let first = next(request, context)
                let isLate = Flag()
                // Not the promise function `after(_:)`, whose timer would outlive a fast response.
                let second = context.local.value(()).delayed(by: delay).then {
                    isLate.isSet = true
                    return next(
                        request.repeated(.hedge, for: context, at: loop.now), context)
                }
                // While one of the two is pending, a failure of the other decides nothing.
                return context.local.firstSettled([
                    first.thenResult { outcome in
                        guard isLate.isSet, isFailure(outcome) else {
                            return context.local.value(try outcome.get())
                        }
                        return second
                    },
                    second.thenResult { outcome in
                        isFailure(outcome) ? first : context.local.value(try outcome.get())
                    },
                ])
            }
        }
    }

    private func isFailure(_ outcome: Result<ClientResponse, any Error>) -> Bool {
        guard case .success(let response) = outcome else { return true }
        let status = Int(response.status.code)
        return (status == 429 || status >= 500) && !accepted.contains { $0.contains(status) }
    }

    private final class Flag {
        var isSet = false
    }
}
