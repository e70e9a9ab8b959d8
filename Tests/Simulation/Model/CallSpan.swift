import Basics
import Rehearsal

/// The longest time in which a call may have been in progress: from its request's first byte to the
/// response.
struct CallSpan {
    let call: DrawnCall
    let from: Instant
    let to: Instant
    /// The maximum duration of the call.
    let limit: Duration
}

extension RunRecord {
    /// All calls that one worker may have had in progress to a backend. A hedged call counts twice.
    func callSpans(to backend: Int, on worker: String?) -> [CallSpan] {
        var spans: [CallSpan] = []
        for client in clients where client.worker == worker {
            for request in client.sent {
                guard let index = request.request.endpoint else { continue }
                for endpoint in configs.map({ $0.endpoints[index] }) {
                    for call in endpoint.calls where call.backend == backend {
                        let limit = min(call.timeout ?? endpoint.timeout, endpoint.deadline)
                        let span = CallSpan(
                            call: call, from: request.began,
                            to: request.responded ?? ended,
                            limit: .milliseconds(limit))
                        spans += call.hedgeAfter == nil ? [span] : [span, span]
                    }
                }
            }
        }
        return spans
    }
}
