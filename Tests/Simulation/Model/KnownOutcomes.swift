import Basics
import Rehearsal

/// The outcomes that one worker has certainly recorded for the calls to one backend, in order of
/// time, up to the first moment from which on they cannot be known from outside.
struct KnownOutcomes {
    struct Outcome {
        let at: Instant
        let host: Int
        /// A 5xx status, or a connection failure.
        let isFailure: Bool
    }

    private(set) var all: [Outcome] = []
    /// Later outcomes are unknown.
    private(set) var knownUntil: Instant

    private let record: RunRecord
    private let config: DrawnConfig

    /// There are no known outcomes in a run with a reload, since their state may be lost, or with
    /// hosts that are unreachable at times, since those do not see all attempts.
    init(of backend: Int, on worker: String, in record: RunRecord) {
        self.record = record
        config = record.configs[0]
        knownUntil = record.ended
        let drawn = config.backends[backend]
        guard record.configs.count == 1, !record.hostOutages.hasUnobservedOutage(of: drawn.hosts),
            !record.isSlow,
            !record.mayLackRoom, !losesRequests(to: backend),
            !record.disturbsConnections(to: backend),
            drawn.http2 == nil || !record.mayLosePongs
        else {
            knownUntil = record.began
            return
        }
        knownUntil = min(knownUntil, firstTimeout(backend, worker) ?? knownUntil)
        let attempts = record.attempts.filter { $0.backend == backend && $0.worker == worker }
        for attempt in attempts { addOutcome(of: attempt) }
        all = all.filter { $0.at < knownUntil }.sorted { $0.at < $1.at }
    }

    /// Whether a request that must not be resent may have met the end of an idle connection, so
    /// that the host has not seen it.
    private func losesRequests(to backend: Int) -> Bool {
        let calls = config.endpoints.flatMap(\.calls).filter { $0.backend == backend }
        return !calls.allSatisfy(\.isIdempotent) && record.losesConnections(to: backend)
    }

    /// The first moment at which a call may have timed out. A timeout counts as a failure, even if
    /// the request was never sent.
    private func firstTimeout(_ backend: Int, _ worker: String) -> Instant? {
        var first: Instant?
        for client in record.clients where client.worker == worker {
            for request in client.sent {
                guard let endpoint = request.request.endpoint.map({ config.endpoints[$0] }) else {
                    continue
                }
                let start = request.read ?? request.began
                for call in endpoint.calls where call.backend == backend {
                    let limit = min(call.timeout ?? endpoint.timeout, endpoint.deadline)
                    let expires = start + .milliseconds(limit)
                    // With padding, the response does not show when the calls were over.
                    let end = endpoint.minDuration == nil ? request.responded : nil
                    guard end.map({ $0 >= expires }) ?? true else { continue }
                    first = min(first ?? expires, expires)
                }
            }
        }
        return first
    }

    private mutating func addOutcome(of attempt: AttemptRecord) {
        guard let ended = attempt.ended else { return }
        let endpoint = config.endpoints[attempt.call.endpoint]
        let call = endpoint.calls[attempt.call.call]
        if attempt.isAmbiguous {
            knownUntil = min(knownUntil, attempt.sent)
            return
        }
        switch attempt.script.outcome {
        case .response(let status, _, _):
            guard attempt.read != nil else { return }
            all.append(Outcome(at: ended, host: attempt.host, isFailure: status >= 500))
        case .fails where attempt.mayBeResent && call.isIdempotent: break
        case .fails where isInProgress(attempt, at: ended) && call.hedgeAfter == nil:
            all.append(Outcome(at: ended, host: attempt.host, isFailure: true))
        case .fails: knownUntil = min(knownUntil, ended)
        // Cancelled; before the first timeout that is no outcome.
        case .nothing: break
        }
    }

    /// Whether the request was certainly still in progress. Without a visible response, another call
    /// may have ended the request at that moment, and cancelled this one.
    private func isInProgress(_ attempt: AttemptRecord, at ended: Instant) -> Bool {
        guard let request = record.request(of: attempt), let responded = request.responded,
            config.endpoints[attempt.call.endpoint].minDuration == nil
        else { return false }
        return responded > ended && request.clientDisconnected.map { $0 > ended } ?? true
    }
}
