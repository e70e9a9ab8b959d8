import Rehearsal

/// Behaviour with HTTP/2.
extension Behaviour {
    private static func exchanges(
        _ name: String,
        _ isMeant: @escaping @Sendable (RequestRecord, HTTP2RequestRecord) -> Bool
    ) -> Behaviour {
        requests(name) { request, _ in request.http2.map { isMeant(request, $0) } ?? false }
    }

    /// Of requests, with the earlier ones of their connection.
    private static func shared(
        _ name: String, _ isMeant: @escaping @Sendable (RequestRecord, RequestRecord) -> Bool
    ) -> Behaviour {
        Behaviour(name: name) { run in
            run.record.clients.reduce(0) { count, client in
                count
                    + client.sent.count { request in
                        request.http2 != nil
                            && client.sent.prefix(request.index).contains { isMeant(request, $0) }
                    }
            }
        }
    }

    /// Of calls, and whether they were sent again.
    private static func calls(
        _ name: String, _ isMeant: @escaping @Sendable (AttemptRecord, RunRecord, Bool) -> Bool
    ) -> Behaviour {
        attempts(name) { attempt, record in
            guard attempt.http2 != nil, let request = record.request(of: attempt) else {
                return false
            }
            let isResent = record.attempts(of: request).contains {
                $0.call == attempt.call && $0.sent > attempt.sent
            }
            return isMeant(attempt, record, isResent)
        }
    }

    static let ofHTTP2: [Behaviour] = [
        exchanges("http2Responses") { request, _ in request.response != nil },
        calls("http2Calls") { attempt, _, _ in attempt.hasResponse },
        calls("http2OnBothSides") { attempt, record, _ in
            attempt.hasResponse && record.request(of: attempt)?.http2 != nil
        },
        // They began before the response to another one.
        shared("simultaneousRequests") { request, earlier in
            earlier.received.map { $0 > request.began } ?? true
        },
        // Their response was complete before another one.
        shared("overtakingResponses") { request, earlier in
            guard let received = request.received, let other = earlier.received else {
                return false
            }
            return other > received
        },
        // Their body had to wait for the windows of the client.
        exchanges("blockedResponses") { request, http2 in
            http2.responseEnded.map { $0 > request.responded ?? $0 } ?? false
        },
        exchanges("resetRequests") { $1.wasReset },
        exchanges("refusedRequests") { $1.resetCode == PeerCode.refusedStream.rawValue },
        exchanges("malformedRequests") { $1.resetCode == PeerCode.protocolError.rawValue },
        // By a GOAWAY of the gateway.
        exchanges("excludedRequests") { $1.excluded != nil },
        // A host had not processed them.
        calls("resentRefusals") { $0.wasRefused && $2 },
        calls("resentUnsafeRefusals") { $0.wasRefused && $2 && !$1.call(of: $0).isIdempotent },
        calls("resentLosses") { $0.mayBeResent && $0.wasLost(by: .lost) && $2 },
        calls("unsafeLosses") { attempt, record, _ in
            attempt.mayBeResent && attempt.wasLost(by: .lost)
                && !record.call(of: attempt).isIdempotent
        },
        // While another response was sent.
        calls("lostCalls") { attempt, _, _ in
            attempt.wasLost(by: .lost) && attempt.script.http2?.disturbsConnection == false
        },
        calls("frozenCalls") { attempt, _, _ in attempt.wasLost(by: .frozen) },
        calls("brokenCalls") { attempt, _, _ in attempt.wasLost(by: .malformed) },
        // More bytes than a window.
        calls("largeResponses") { attempt, _, _ in
            guard case .response(_, let body, _) = attempt.script.outcome else { return false }
            return attempt.hasResponse && body.count > PeerFrame.defaultWindow
        },
    ]
}

extension AttemptRecord {
    fileprivate var hasResponse: Bool { read != nil && read == ended }

    fileprivate func wasLost(by end: HTTP2Exchange.ConnectionEnd) -> Bool {
        wasLost && http2?.connectionEnd == end
    }
}
