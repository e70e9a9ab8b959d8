import Assembly
import Basics
import Gateway
import HTTP
import Reactor
import Rehearsal

/// The record of each request against what happened: its times add up, and its attempts are those that
/// the hosts received. The code takes no time here, so the gateway's own time is zero: any other value
/// is a wait that the record assigns to nothing.
struct RecordCheck {
    let record: RunRecord
    let violations: ViolationLog

    func check() {
        for recorded in record.recorded {
            checkTimes(recorded, isStream: isStream(recorded))
            guard case .client(let id) = recorded.id, let number = Int(String(id).dropFirst()),
                record.requests.indices.contains(number), let request = record.requests[number],
                request.mark == String(id), request.request.defect == nil
            else { continue }
            checkEnds(recorded, request)
            checkAttempts(recorded, request)
        }
    }

    private func add(_ recorded: RecordedRequest, _ text: String) {
        violations.add(.record, "\(recorded.id)", text)
    }

    // MARK: Times

    /// Whether its response was streamed, so that it ended later than its call's head.
    private func isStream(_ recorded: RecordedRequest) -> Bool {
        guard case .client(let id) = recorded.id, let number = Int(String(id).dropFirst()),
            record.requests.indices.contains(number)
        else { return false }
        return record.requests[number]?.stream != nil
    }

    private func checkTimes(_ recorded: RecordedRequest, isStream: Bool) {
        let start = Moment(microseconds: 0)
        guard let duration = recorded.ended.since(start) else {
            return add(recorded, "its record has no end")
        }
        let times = recorded.times
        let sum = RequestTimes.Phase.allCases.reduce(Duration.zero) { $0 + times[$1] }
        if sum != duration { add(recorded, "times of \(sum) in a duration of \(duration)") }
        if times[.own] != .zero, !mayBeHeldBack(recorded) {
            add(recorded, "\(times[.own]) in which nothing was awaited")
        }
        let inCalls = timeInCalls(recorded)
        if !isStream, times[.calling] != inCalls {
            add(recorded, "\(times[.calling]) with a call in flight, its calls say \(inCalls)")
        }
        let isPadded = recorded.endpoint?.isPadded ?? false
        let delayed = mayBeHeldBack(recorded) ? times[.own] : .zero
        let held =
            isPadded
            ? max(.zero, (recorded.ended.since(recorded.answered) ?? .zero) - delayed) : .zero
        if times[.held] != held { add(recorded, "held for \(times[.held]), and not \(held)") }
    }

    /// Whether its client may delay the end of the response, because it does not take it.
    private func mayBeHeldBack(_ recorded: RecordedRequest) -> Bool {
        guard case .client(let id) = recorded.id, let number = Int(String(id).dropFirst()),
            record.requests.indices.contains(number), let request = record.requests[number]
        else { return false }
        guard let responded = request.responded, let ended = request.responseEnded else {
            // Also where the gateway closes the connection of a client that does not read.
            if mayPauseReading(request) { return true }
            return request.http2 != nil || request.clientDisconnected != nil
        }
        return recorded.times[.own] <= ended - responded + .microseconds(1)
    }

    /// Whether its client pauses reading because of the request, or of an earlier one on the connection.
    private func mayPauseReading(_ request: RequestRecord) -> Bool {
        let client = record.clients.first { $0.sent.contains { $0.number == request.number } }
        return client?.sent.prefix(request.index + 1).contains {
            if case .pausesReading = $0.request.afterSending { true } else { false }
        } ?? false
    }

    /// The time covered by at least one call.
    private func timeInCalls(_ recorded: RecordedRequest) -> Duration {
        let spans = recorded.calls.filter(\.began.hasHappened).map { ($0.began, $0.ended) }
            .sorted { $0.0 < $1.0 }
        var covered = Duration.zero
        var reached = Moment(microseconds: 0)
        for (began, ended) in spans {
            guard ended.hasHappened else {
                add(recorded, "a call of it has no end")
                continue
            }
            covered += max(ended, reached).since(max(began, reached)) ?? .zero
            reached = max(ended, reached)
        }
        return covered
    }

    // MARK: The client

    private func checkEnds(_ recorded: RecordedRequest, _ request: RequestRecord) {
        guard let response = request.response, let responded = request.responded,
            response["X-Request-Id"] == request.mark
        else { return }
        if Int(recorded.status) != response.status {
            add(recorded, "recorded with \(recorded.status), responded with \(response.status)")
        }
        let ended = request.responseEnded ?? responded
        // The gateway does not see whether the network takes a small response at once. It ends a request
        // that it rejects itself before the response.
        let isSmall = response.length <= WriteBuffering.bytesMax
        if isSmall, moment(responded, recorded) == recorded.ended { return }
        if request.stream == nil, moment(ended, recorded) != recorded.ended {
            add(
                recorded,
                "responded at \(moment(ended, recorded)), recorded at \(recorded.ended)")
        }
    }

    // MARK: The hosts

    /// Every request that a host received is an attempt of the record.
    private func checkAttempts(_ recorded: RecordedRequest, _ request: RequestRecord) {
        for served in record.attempts(of: request) where !served.isAmbiguous {
            let sent = moment(served.sent, recorded)
            let fitting = recorded.attempts.filter {
                Int($0.call) == served.call.call && $0.host.map(Int.init) == served.host
                    && ($0.sent == sent || $0.wasResent
                        || served.http2?.isLimited == true && $0.sent <= sent)
            }
            guard !fitting.isEmpty else {
                add(recorded, "\(served.call.text) was sent at \(sent), which is not recorded")
                continue
            }
            guard let read = served.read, served.ended == served.read,
                case .response(let status, _, _) = served.script.outcome,
                // A host that has closed its connection does not see a cancellation.
                !served.isUnseen
            else { continue }
            let isComplete = fitting.contains {
                $0.outcome == .answered && Int($0.status) == status
                    && $0.lastByte == moment(read, recorded)
            }
            // Without memory for its body a response fails the call.
            let isRefused = fitting.contains { $0.outcome == .failed(.queueFull) }
            // The connection stays open over HTTP/2, and the response may cross the reset of its stream.
            let wasOver =
                served.http2 != nil
                && fitting.contains { $0.wasGivenUp(until: moment(read, recorded)) }
            if !isComplete, !isRefused, !wasOver, request.responded.map({ read < $0 }) ?? false {
                add(recorded, "\(served.call.text) gave \(status), which is not recorded")
            }
        }
        let sends = recorded.attempts.count { $0.sent.hasHappened }
        let resends = recorded.attempts.count(where: \.wasResent)
        let received = record.attempts(of: request).count { !$0.wasRefused }
        if received > sends + resends {
            add(recorded, "\(received) requests of calls, and \(sends + resends) recorded")
        }
    }

    private func moment(_ instant: Instant, _ recorded: RecordedRequest) -> Moment {
        let microseconds = (instant - recorded.began).inNanoseconds / 1_000
        return Moment(microseconds: UInt32(clamping: microseconds))
    }
}

extension Gateway.AttemptRecord {
    /// Whether the gateway did not wait for its response any more.
    fileprivate func wasGivenUp(until moment: Moment) -> Bool {
        (outcome == .failed(.cancelled) || outcome == .failed(.responseTimeout)) && ended <= moment
    }
}

extension RequestRecord {
    /// When the last byte of the response had left the gateway.
    fileprivate var responseEnded: Instant? { http2?.responseEnded ?? taken }
}
