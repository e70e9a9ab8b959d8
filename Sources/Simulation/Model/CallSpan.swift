import Basics
import Rehearsal

/// A call that can have been under way, and when: from its request's first byte to the answer.
struct CallSpan {
    let call: DrawnCall
    let from: Instant
    let to: Instant
    /// The most time that it may take.
    let limit: Duration
}

extension RunRecord {
    /// At least those that one core had under way to a backend; a hedged one counts twice.
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
                            to: request.answered ?? ended,
                            limit: .milliseconds(limit))
                        spans += call.hedgeAfter == nil ? [span] : [span, span]
                    }
                }
            }
        }
        return spans
    }
}
