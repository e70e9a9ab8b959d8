import Basics
import Rehearsal

/// No response is written before `min_duration` or after the deadline. The gateway's own times are known,
/// so the check is exact to the nanosecond.
struct TimesCheck {
    let record: RunRecord
    let violations: ViolationLog

    func check() {
        for client in record.clients {
            for request in client.sent { check(request, client) }
        }
    }

    private func check(_ request: RequestRecord, _ client: ClientRecord) {
        // After a reload, either configuration may have applied.
        guard let response = request.response, let responded = request.responded,
            !record.excuses.add(.reload, request, if: record.configs.count > 1)
        else { return }
        let config = record.configs[0]
        let model = RequestModel(request: request.request, config: config)
        // A request that is late or has too many fields does not reach its endpoint.
        guard let endpoint = model.endpoint, model.isMatched, ![408, 431].contains(response.status)
        else { return }
        let start = request.read ?? request.began
        if let least = endpoint.minDuration, !isServerRefusal(response, config) {
            // A request that is refused before its last byte is padded from the refusal on.
            let isEarly = response.isComplete == nil
            let duration = responded - (isEarly ? request.firstRead ?? start : start)
            if duration < .milliseconds(least) {
                violations.add(
                    .times, request.mark,
                    "response written after \(duration), before min_duration (\(least) ms)")
            }
        }
        // Behind a response that waited for its client, the start of a request is unknown.
        guard case .starts(let started) = model.expectation, started.proxy == nil,
            request.read != nil,
            !record.excuses.add(.slowClient, request, if: mayBeDelayed(request, client))
        else {
            return
        }
        let latest = self.start(of: request, client, start) + endpoint.latest
        if responded > latest {
            violations.add(
                .times, request.mark, "\(responded - latest) after the deadline")
        }
    }

    /// A 503 by the server itself, before any endpoint is involved.
    private func isServerRefusal(_ response: PeerMessage, _ config: DrawnConfig) -> Bool {
        response.status == 503 && response["Gateway-Complete"] == nil
            && (config.limits.requestsInFlight != nil || config.limits.limitsConnections
                || record.mayLackRoom)
    }

    /// A pipelined request starts when the previous response is written.
    private func start(
        of request: RequestRecord, _ client: ClientRecord, _ read: Instant
    ) -> Instant {
        guard request.http2 == nil, request.index > 0,
            let former = client.sent[request.index - 1].responded
        else {
            return read
        }
        return max(read, former)
    }

    private func mayBeDelayed(_ request: RequestRecord, _ client: ClientRecord) -> Bool {
        guard request.request.isPipelined || request.http2 != nil else { return false }
        return record.rates[.smallWindows] > 0 || record.rates[.slowReaders] > 0
    }
}

extension DrawnEndpoint {
    /// The latest time of a response, from the request's last byte.
    var latest: Duration {
        guard let minDuration else { return .milliseconds(deadline) }
        guard deadline > minDuration else { return .milliseconds(minDuration) }
        guard let roundUpTo else { return .milliseconds(deadline) }
        let steps = (deadline - minDuration + roundUpTo - 1) / roundUpTo
        return .milliseconds(minDuration + steps * roundUpTo)
    }
}
