import Rehearsal

/// Behaviour of the gateway with HTTP/2 that the runs must reach.
package enum FramedBehaviour: String, CaseIterable, Sendable {
    /// Responses to clients, and of hosts; calls over HTTP/2 for clients with HTTP/2.
    case framedResponses, framedCalls, framedOnBothSides
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
    static func counts(in record: RunRecord) -> [FramedBehaviour: Int] {
        var counts: [FramedBehaviour: Int] = [:]
        func add(_ behaviour: FramedBehaviour, _ condition: Bool) {
            if condition { counts[behaviour, default: 0] += 1 }
        }
        for client in record.clients {
            for request in client.sent { Self.add(request, client, add) }
        }
        for attempt in record.attempts {
            guard let framed = attempt.framed, let request = record.request(of: attempt) else {
                continue
            }
            let call = record.call(of: attempt)
            let later = record.attempts(of: request).filter {
                $0.call == attempt.call && $0.sent > attempt.sent
            }
            let responded = attempt.read != nil && attempt.read == attempt.ended
            add(.framedCalls, responded)
            add(.framedOnBothSides, responded && request.framed != nil)
            add(.resentRefusals, framed.wasRefused && !later.isEmpty)
            add(.resentUnsafeRefusals, framed.wasRefused && !later.isEmpty && !call.isIdempotent)
            let wasLost = framed.wasLost && framed.connectionEnd == .lost
            add(.resentLosses, attempt.mayBeResent && wasLost && !later.isEmpty)
            add(.unsafeLosses, attempt.mayBeResent && wasLost && !call.isIdempotent)
            add(.lostCalls, wasLost && attempt.script.framed?.disturbsConnection == false)
            add(.frozenCalls, framed.wasLost && framed.connectionEnd == .frozen)
            add(.brokenCalls, framed.wasLost && framed.connectionEnd == .malformed)
            if case .response(_, let body, _) = attempt.script.outcome, responded {
                add(.largeResponses, body.count > PeerFrame.defaultWindow)
            }
        }
        return counts
    }

    private static func add(
        _ request: RequestRecord, _ client: ClientRecord, _ add: (FramedBehaviour, Bool) -> Void
    ) {
        guard let framed = request.framed else { return }
        let earlier = client.sent.prefix(request.index)
        add(.framedResponses, request.response != nil)
        add(
            .simultaneousRequests,
            earlier.contains { $0.received.map { $0 > request.began } ?? true })
        add(
            .overtakingResponses,
            request.received.map { received in
                earlier.contains { $0.received.map { $0 > received } ?? false }
            } ?? false)
        add(.blockedResponses, framed.responseEnded.map { $0 > request.responded ?? $0 } ?? false)
        add(.resetRequests, framed.wasReset)
        add(.refusedRequests, framed.resetCode == PeerCode.refusedStream.rawValue)
        add(.malformedRequests, framed.resetCode == PeerCode.protocolError.rawValue)
        add(.excludedRequests, framed.excluded != nil)
    }
}
