import Basics
import Rehearsal

/// Nothing before `min_duration`, nothing after the deadline: to the nanosecond, as the gateway's own
/// moments are known here.
struct TimesCheck {
    let record: RunRecord
    let violations: ViolationLog

    func run() {
        for client in record.clients {
            for request in client.sent { check(request, client) }
        }
    }

    private func check(_ request: RequestRecord, _ client: ClientRecord) {
        // After a reload either configuration may have been at work.
        guard let answer = request.answer, let answered = request.answered,
            record.configs.count == 1
        else { return }
        let config = record.configs[0]
        let model = RequestModel(request: request.request, config: config)
        guard let endpoint = model.endpoint, model.isMatched, answer.status != 408 else { return }
        let start = request.read ?? request.began
        if let least = endpoint.minDuration, !isServersOwn(answer, config) {
            // What is refused before its last byte is held from the refusal on.
            let isEarly = answer["Gateway-Complete"] == nil
            let held = answered - (isEarly ? request.firstRead ?? start : start)
            if held < .milliseconds(least) {
                violations.add(
                    .times, request.mark, "left after \(held), before its \(least) ms")
            }
        }
        // Behind an answer that waited for its client, nobody knows when a request began.
        guard case .goes = model.expectation, !isHeldUp(request, client), request.read != nil else {
            return
        }
        let latest = beginning(request, client, start) + endpoint.latest
        if answered > latest {
            violations.add(
                .times, request.mark, "\(answered - latest) after its deadline had passed")
        }
    }

    /// A refusal of the server's, whatever the endpoint.
    private func isServersOwn(_ answer: PeerMessage, _ config: DrawnConfig) -> Bool {
        answer.status == 503 && answer["Gateway-Complete"] == nil
            && (config.limits.requestsInFlight != nil || config.limits.limitsConnections
                || record.mayLackRoom)
    }

    /// A pipelined request begins when the one before it is answered.
    private func beginning(
        _ request: RequestRecord, _ client: ClientRecord, _ read: Instant
    ) -> Instant {
        guard request.place > 0, let former = client.sent[request.place - 1].answered else {
            return read
        }
        return max(read, former)
    }

    private func isHeldUp(_ request: RequestRecord, _ client: ClientRecord) -> Bool {
        guard request.request.isPipelined else { return false }
        return record.rates[.smallWindows] > 0 || record.rates[.slowReaders] > 0
    }
}

extension DrawnEndpoint {
    /// The latest moment of an answer, from the request's last byte.
    var latest: Duration {
        guard let minDuration else { return .milliseconds(deadline) }
        guard deadline > minDuration else { return .milliseconds(minDuration) }
        guard let roundUpTo else { return .milliseconds(deadline) }
        let steps = (deadline - minDuration + roundUpTo - 1) / roundUpTo
        return .milliseconds(minDuration + steps * roundUpTo)
    }
}
