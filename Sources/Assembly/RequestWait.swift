import Basics
import Gateway
import HTTP

/// What a request in flight waits for, read from its record when a page shows it.
package enum RequestWait: Sendable, Equatable {
    /// Nothing: the gateway works on it.
    case nothing
    /// The rest of its body.
    case body
    /// The decision of the store about its rate limits.
    case store
    /// The keys of an issuer.
    case keys
    /// These calls.
    case calls([CallWait])
    /// The client, which receives the response.
    case client

    /// What one attempt of a call waits for.
    package struct CallWait: Sendable, Equatable {
        package enum Reason: String, Sendable {
            /// A permit of the backend's concurrency limit.
            case permit
            /// A connection: an idle or a new one.
            case connection
            /// The head of the response.
            case response
            /// The rest of the response.
            case body
            /// The next attempt.
            case retry
        }

        package let name: String
        package let backend: String
        /// Host and port; nil before a host was chosen.
        package let host: String?
        package let reason: Reason
        /// How long it has waited for this.
        package let time: Duration
        /// From 1.
        package let attempt: Int

        package init(
            name: String, backend: String, host: String?, reason: Reason, time: Duration,
            attempt: Int
        ) {
            self.name = name
            self.backend = backend
            self.host = host
            self.reason = reason
            self.time = time
            self.attempt = attempt
        }
    }
}

extension RequestWait {
    init(_ record: RequestRecord, at now: Instant) {
        switch record.phase {
        case .receiving: self = .body
        case .calling: self = .calls(Self.calls(of: record, at: record.moment(now)))
        case .own: self = record.answered.hasHappened ? .client : .nothing
        case .store: self = .store
        case .keys: self = .keys
        // Only padded endpoints hold responses back, and those hide their timing.
        case .held: self = .nothing
        }
    }

    private static func calls(of record: RequestRecord, at now: Moment) -> [CallWait] {
        guard let endpoint = record.endpoint else { return [] }
        if record.answered.hasHappened { return streamed(record, endpoint, at: now) }
        return record.calls.indices.filter { record.calls[$0].isInFlight }.flatMap { index in
            let attempts = record.attempts.filter { Int($0.call) == index }
            let open = attempts.enumerated().filter { !$0.element.ended.hasHappened }
            let names = endpoint.calls[index]
            guard open.isEmpty else {
                return open.map {
                    CallWait($0.element, number: $0.offset + 1, of: names, at: now)
                }
            }
            let since = attempts.last?.ended ?? record.calls[index].began
            return [
                CallWait(
                    name: names.name, backend: names.backend, host: nil, reason: .retry,
                    time: now.since(since) ?? .zero, attempt: attempts.count + 1)
            ]
        }
    }

    /// The attempt whose response is streamed: its call has ended with the head, and the body still
    /// comes from the backend.
    private static func streamed(
        _ record: RequestRecord, _ endpoint: RecordedEndpoint, at now: Moment
    ) -> [CallWait] {
        record.calls.indices.compactMap { index in
            guard let place = record.calls[index].decidingAttempt.map(Int.init) else { return nil }
            let attempts = record.attempts[...place].filter { Int($0.call) == index }
            return CallWait(
                record.attempts[place], number: attempts.count, of: endpoint.calls[index], at: now)
        }
    }
}

extension RequestWait.CallWait {
    /// An attempt that has not ended, or whose response is streamed.
    fileprivate init(
        _ attempt: AttemptRecord, number: Int, of call: RecordedEndpoint.Call, at now: Moment
    ) {
        let (reason, since): (Reason, Moment) =
            if attempt.firstByte.hasHappened {
                (.body, attempt.firstByte)
            } else if attempt.sent.hasHappened {
                (.response, attempt.sent)
            } else if attempt.permitted.hasHappened {
                (.connection, attempt.permitted)
            } else {
                (.permit, attempt.began)
            }
        let host = attempt.host.map(Int.init).flatMap { index in
            call.hosts.indices.contains(index) ? "\(call.hosts[index])" : nil
        }
        self.init(
            name: call.name, backend: call.backend, host: host, reason: reason,
            time: now.since(since) ?? .zero, attempt: number)
    }
}
