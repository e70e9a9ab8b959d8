import Basics
import Rehearsal
import SimReactor

/// Calls that are not needed any more are cancelled: immediately when the response is written, and as
/// soon as the gateway can notice it when the client has disconnected.
struct CancellationCheck {
    let record: RunRecord
    let violations: ViolationLog

    func check() {
        for client in record.clients {
            for request in client.sent {
                // Behind the head of a response in parts, calls go on.
                if request.response?.hasParts == true {
                    if let received = request.received {
                        check(request, until: received, "when the last part was received")
                    }
                } else if let responded = request.responded {
                    check(request, until: responded, "when the response was written")
                } else if let http2 = request.http2, http2.wasReset {
                    guard let read = http2.resetRead else { continue }
                    check(request, until: read, "when the gateway had read that it was reset")
                } else if let left = client.disconnected ?? client.endSeen,
                    !record.excuses.add(
                        .clientLeft, request, if: !canNoticeDisconnect(client, request))
                {
                    let slack = slack(client, left)
                    check(
                        request, until: left + slack, "\(slack) after its client had disconnected")
                }
            }
        }
    }

    /// The gateway reads ahead a limited number of bytes; with more, it does not see the client's end.
    private func canNoticeDisconnect(_ client: ClientRecord, _ request: RequestRecord) -> Bool {
        guard let last = client.sent.last else { return true }
        return last.bytes.upperBound - request.bytes.upperBound <= 16 * 1024
    }

    private func check(_ request: RequestRecord, until end: Instant, _ when: String) {
        for attempt in record.attempts(of: request) {
            if let ended = attempt.ended, ended <= end { continue }
            // A host that has closed its connection does not see a cancellation.
            if record.excuses.add(.unsolicitedData, request, if: attempt.isAmbiguous)
                || record.excuses.add(.slowHost, request, if: mayBeDelayed(attempt))
                || record.excuses.add(.lostConnection, request, if: attempt.isUnseen)
            {
                continue
            }
            violations.add(
                .cancellation, request.mark,
                "\(attempt.call.text) attempt \(attempt.ordinal) still ran \(when)")
        }
    }

    /// With small windows, RST_STREAM waits until the host has read what was sent before, whatever
    /// number of packets that takes.
    private func mayBeDelayed(_ attempt: HostRequest) -> Bool {
        attempt.ended != nil && attempt.http2 != nil && record.rates[.smallWindows] > 0
    }

    /// A packet must arrive before the gateway can notice that a client disconnected. After a
    /// half-close, the gateway must send a byte and receive a reset; it does so less
    /// and less often.
    private func slack(_ client: ClientRecord, _ left: Instant) -> Duration {
        let roundTrips = record.network.longestLatency * 4
        guard let ended = client.halfClosed else { return roundTrips }
        return roundTrips + .milliseconds(50) + (left - ended) * 2
    }
}
