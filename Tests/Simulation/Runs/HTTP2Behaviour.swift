import Rehearsal

/// Behaviour of the gateway with HTTP/2 that the runs must reach.
package enum HTTP2Behaviour: String, CaseIterable, Sendable {
    /// Responses to clients with HTTP/2; those of hosts with HTTP/2; and the latter for such clients.
    case http2Responses, http2Calls, http2OnBothSides
    /// Requests that began before the response to another one of their connection.
    case simultaneousRequests
    /// Responses that were complete before those to earlier requests.
    case overtakingResponses
    /// Responses whose body had to wait for the windows of the client.
    case blockedResponses
    /// Requests that the client reset, and those whose stream the gateway refused or reset.
    case resetRequests, refusedRequests, malformedRequests
    /// Requests that a GOAWAY of the gateway excluded.
    case excludedRequests
    /// Calls that a host had not processed, and that were sent again; also those that are not idempotent.
    case resentRefusals, resentUnsafeRefusals
    /// Calls that were sent again after their connection was lost; and calls that must not be.
    case resentLosses, unsafeLosses
    /// Calls on a connection that was lost while another response was sent, that does not respond any more, or
    /// that has sent malformed frames.
    case lostCalls, frozenCalls, brokenCalls
    /// Responses with more bytes than a window.
    case largeResponses

    /// How often each took place.
    static func counts(in record: RunRecord) -> [HTTP2Behaviour: Int] {
        var counts: [HTTP2Behaviour: Int] = [:]
        func add(_ behaviour: HTTP2Behaviour, _ condition: Bool) {
            if condition { counts[behaviour, default: 0] += 1 }
        }
        for client in record.clients {
            for request in client.sent { Self.add(request, client, add) }
        }
        for attempt in record.attempts {
            guard let http2 = attempt.http2, let request = record.request(of: attempt) else {
                continue
            }
            let call = record.call(of: attempt)
            let later = record.attempts(of: request).filter {
                $0.call == attempt.call && $0.sent > attempt.sent
            }
            let responded = attempt.read != nil && attempt.read == attempt.ended
            add(.http2Calls, responded)
            add(.http2OnBothSides, responded && request.http2 != nil)
            add(.resentRefusals, http2.wasRefused && !later.isEmpty)
            add(.resentUnsafeRefusals, http2.wasRefused && !later.isEmpty && !call.isIdempotent)
            let wasLost = attempt.wasLost && http2.connectionEnd == .lost
            add(.resentLosses, attempt.mayBeResent && wasLost && !later.isEmpty)
            add(.unsafeLosses, attempt.mayBeResent && wasLost && !call.isIdempotent)
            add(.lostCalls, wasLost && attempt.script.http2?.disturbsConnection == false)
            add(.frozenCalls, attempt.wasLost && http2.connectionEnd == .frozen)
            add(.brokenCalls, attempt.wasLost && http2.connectionEnd == .malformed)
            if case .response(_, let body, _) = attempt.script.outcome, responded {
                add(.largeResponses, body.count > PeerFrame.defaultWindow)
            }
        }
        return counts
    }

    private static func add(
        _ request: RequestRecord, _ client: ClientRecord, _ add: (HTTP2Behaviour, Bool) -> Void
    ) {
        guard let http2 = request.http2 else { return }
        let earlier = client.sent.prefix(request.index)
        add(.http2Responses, request.response != nil)
        add(
            .simultaneousRequests,
            earlier.contains { $0.received.map { $0 > request.began } ?? true })
        add(
            .overtakingResponses,
            request.received.map { received in
                earlier.contains { $0.received.map { $0 > received } ?? false }
            } ?? false)
        add(.blockedResponses, http2.responseEnded.map { $0 > request.responded ?? $0 } ?? false)
        add(.resetRequests, http2.wasReset)
        add(.refusedRequests, http2.resetCode == PeerCode.refusedStream.rawValue)
        add(.malformedRequests, http2.resetCode == PeerCode.protocolError.rawValue)
        add(.excludedRequests, http2.excluded != nil)
    }
}
