import Basics
import Rehearsal

/// A call is sent as often as its `retry` and `hedge` allow, and one that is not idempotent is processed once.
/// The limits themselves are assertions of the code that counts.
struct LimitsCheck {
    let record: RunRecord
    let violations: ViolationLog

    func check() {
        for client in record.clients {
            for request in client.sent { checkAttempts(request) }
        }
    }

    private func checkAttempts(_ request: RequestRecord) {
        for config in record.configs {
            guard let endpoint = config.endpoint(of: request.request) else {
                continue
            }
            for call in endpoint.calls {
                let attempts = record.attempts(of: request).filter {
                    $0.call.generation == config.generation && $0.call.call == call.index
                }
                guard call.hasList else {
                    check(attempts, of: call, request)
                    continue
                }
                let elements = request.request.listElements
                for element in Set(elements).sorted() {
                    let own = attempts.filter { $0.isOf(element) }
                    let equal = elements.count { $0 == element }
                    check(own, of: call, request, requests: call.sharesRequests ? 1 : equal)
                }
            }
        }
    }

    /// - Parameter requests: how many equal requests the call makes
    private func check(
        _ attempts: [AttemptRecord], of call: DrawnCall, _ request: RequestRecord, requests: Int = 1
    ) {
        guard attempts.count > requests else { return }
        let isAmbiguous = call.isIdempotent && attempts.contains(where: \.isAmbiguous)
        if record.excuses.add(.unsolicitedData, request, if: isAmbiguous) { return }
        if let fault = fault(of: call, attempts, requests) {
            violations.add(.limits, request.mark, "\(attempts[0].call.text): \(fault)")
        }
    }

    private func fault(
        of call: DrawnCall, _ attempts: [AttemptRecord], _ requests: Int
    ) -> String? {
        // What a host has not processed may be sent again, whatever its method (RFC 9113 8.7).
        let processed = attempts.count { !$0.wasRefused }
        if !call.isIdempotent {
            return processed > requests
                ? "a \(call.method) was sent \(processed) times" : nil
        }
        // One more for each resend after the host closed a reused connection.
        let resent = attempts.count { $0.mayBeResent || mayHaveLostPong($0) }
        let allowed =
            (call.retry?.attempts ?? 1) * (call.hedgeAfter == nil ? 1 : 2) * requests + resent
        if attempts.count > allowed { return "\(attempts.count) attempts, \(allowed) are allowed" }
        guard call.hedgeAfter == nil, requests == 1 else { return nil }
        // Those of several connections may arrive in another order. Of two that were sent at the same time, the
        // refused one was the first.
        let ordered = attempts.sorted {
            $0.sent == $1.sent ? $0.wasRefused && !$1.wasRefused : $0.sent < $1.sent
        }
        let wrong = ordered.dropLast().first { !mayRepeat(call, after: $0) }
        return wrong.map { "retried after attempt \($0.ordinal), whose result must not be retried" }
    }

    /// Whether the gateway may have ended the connection for a PING that was not acknowledged in time.
    private func mayHaveLostPong(_ attempt: AttemptRecord) -> Bool {
        guard record.mayLosePongs, attempt.http2 != nil else { return false }
        return !attempt.hasReadHead && attempt.read == nil
    }

    private func mayRepeat(_ call: DrawnCall, after attempt: AttemptRecord) -> Bool {
        if let request = record.request(of: attempt),
            record.excuses.add(.lostConnection, request, if: mayHaveLostPong(attempt))
        {
            return true
        }
        if attempt.http2 != nil, attempt.mayBeResent || attempt.wasLost {
            return attempt.mayBeResent || call.retry?.repeats("terminated") ?? false
        }
        return switch attempt.script.outcome {
        case .response(let status, _, _): call.retry?.repeats("\(status)") ?? false
        case .fails(.connectionTerminated):
            attempt.mayBeResent || call.retry?.repeats("terminated") ?? false
        case .fails, .nothing: false
        }
    }
}
