import Assembly
import Basics
import Gateway
import HTTP
import Reactor
import Rehearsal

/// The record of each request against what happened. That its times add up, and that nothing is sent
/// without a record, are assertions of the recorder.
struct RecordCheck {
    let record: RunRecord
    let violations: ViolationLog

    func check() {
        for recorded in record.recorded {
            guard recorded.ended.hasHappened else {
                add(recorded, "its record has no end")
                continue
            }
            guard case .client(let id) = recorded.id, let number = Int(String(id).dropFirst()),
                record.requests.indices.contains(number), let request = record.requests[number]
            else { continue }
            checkOwnTime(recorded, request)
            guard request.mark == String(id), request.request.defect == nil else { continue }
            checkEnd(recorded, request)
            checkAttempts(recorded, request)
        }
    }

    private func add(_ recorded: RecordedRequest, _ text: String) {
        violations.add(.record, "\(recorded.id)", text)
    }

    // MARK: Times

    /// The code takes no time here, so the gateway's own time is zero: any other value is a wait that the
    /// record assigns to nothing.
    private func checkOwnTime(_ recorded: RecordedRequest, _ request: RequestRecord) {
        let own = recorded.times[.own]
        guard own != .zero else { return }
        // Its client may delay the end of the response, because it does not take it.
        guard let responded = request.responded, let ended = request.responseEnded else {
            record.excuses.add(.clientLeft, request)
            return
        }
        if own > ended - responded + .microseconds(1) {
            add(recorded, "\(own) in which nothing was awaited")
        }
    }

    // MARK: The client

    private func checkEnd(_ recorded: RecordedRequest, _ request: RequestRecord) {
        guard let response = request.response, let responded = request.responded,
            response["X-Request-Id"] == request.mark, request.stream == nil
        else { return }
        // The gateway does not see whether the network takes a small response at once. It ends a request
        // that it rejects itself before the response.
        let isSmall = response.length <= WriteBuffering.bytesMax
        if isSmall, moment(responded, recorded) == recorded.ended { return }
        let ended = moment(request.responseEnded ?? responded, recorded)
        // The last records of a response in parts are such a small rest.
        let isWithin = recorded.ended >= moment(responded, recorded) && recorded.ended <= ended
        if response.hasParts, isWithin { return }
        if ended != recorded.ended {
            add(recorded, "responded at \(ended), recorded at \(recorded.ended)")
        }
    }

    // MARK: The hosts

    /// Every request that a host received is an attempt of the record, and every response that the gateway
    /// has read is its outcome. Over HTTP/2 it may cross the reset of its stream.
    private func checkAttempts(_ recorded: RecordedRequest, _ request: RequestRecord) {
        for served in record.attempts(of: request) where !served.isAmbiguous {
            let sent = moment(served.sent, recorded)
            let fitting = recorded.attempts.filter { isAttempt($0, served, sent) }
            if fitting.isEmpty {
                add(recorded, "\(served.call.text) was sent at \(sent), which is not recorded")
            }
            guard served.http2 == nil, let read = served.read, served.ended == read,
                case .response(let status, _, _) = served.script.outcome,
                request.responded.map({ read < $0 }) ?? false
            else { continue }
            let isRecorded = fitting.contains {
                // Without memory for its body a response fails the call.
                return $0.outcome == .failed(.queueFull)
                    || $0.outcome == .answered && Int($0.status) == status
                        && $0.lastByte == moment(read, recorded)
            }
            if !isRecorded {
                add(recorded, "\(served.call.text) gave \(status), which is not recorded")
            }
        }
    }

    private func isAttempt(
        _ attempt: Gateway.AttemptRecord, _ served: AttemptRecord, _ sent: Moment
    ) -> Bool {
        guard Int(attempt.call) == served.call.call, attempt.host.map(Int.init) == served.host
        else {
            return false
        }
        return attempt.sent == sent || attempt.wasResent
            || served.http2?.isLimited == true && attempt.sent <= sent
    }

    private func moment(_ instant: Instant, _ recorded: RecordedRequest) -> Moment {
        let microseconds = (instant - recorded.began).inNanoseconds / 1_000
        return Moment(microseconds: UInt32(clamping: microseconds))
    }
}

extension RequestRecord {
    /// When the last byte of the response had left the gateway.
    fileprivate var responseEnded: Instant? { http2?.responseEnded ?? taken }
}
