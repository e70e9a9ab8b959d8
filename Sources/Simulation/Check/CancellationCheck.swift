import Basics
import Rehearsal
import SimReactor

/// What nobody waits for any more is given up: at once when a request is answered, and as soon as it
/// can be known when its client has left.
struct CancellationCheck {
    let record: RunRecord
    let violations: ViolationLog

    func run() {
        for client in record.clients {
            for request in client.sent {
                if let answered = request.answered {
                    check(request, until: answered, "when it was answered")
                } else if let left = client.left ?? client.wasClosed, isHeard(client, request) {
                    let slack = slack(client, left)
                    check(request, until: left + slack, "\(slack) after its client had left")
                }
            }
        }
    }

    /// Behind what is read ahead at most, nobody reads, and so nobody notices an end.
    private func isHeard(_ client: ClientRecord, _ request: RequestRecord) -> Bool {
        guard let last = client.sent.last else { return true }
        return last.bytes.upperBound - request.bytes.upperBound <= 16 * 1024
    }

    private func check(_ request: RequestRecord, until end: Instant, _ words: String) {
        for attempt in record.attempts(of: request) where !attempt.isPoisoned {
            if let ended = attempt.ended, ended <= end { continue }
            violations.add(
                .cancellation, request.mark,
                "\(attempt.call.text) attempt \(attempt.ordinal) still ran \(words)")
        }
    }

    /// To be told that a client left takes a packet; that one who only ended its side has left takes
    /// a question and its answer, asked less and less often.
    private func slack(_ client: ClientRecord, _ left: Instant) -> Duration {
        let settings = record.network
        let packet = settings.latency.upperBound + (settings.stalls?.upTo ?? .zero)
        guard let ended = client.halfClosed else { return packet * 4 }
        return packet * 4 + .milliseconds(50) + (left - ended) * 2
    }
}
