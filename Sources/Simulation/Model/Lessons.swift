import Basics
import Rehearsal

/// What one core must have learned of one backend from its calls, in order of time, up to the first
/// moment from which on nobody outside can say what it learned.
struct Lessons {
    struct Lesson {
        let at: Instant
        let host: Int
        /// 5xx, or a failure of the connection.
        let isFailure: Bool
    }

    private(set) var all: [Lesson] = []
    /// Nothing is known of later lessons.
    private(set) var end: Instant

    private let record: RunRecord
    private let config: DrawnConfig

    /// Nothing where a run hides too much: with a reload, what one configuration learned the next may
    /// know; and hosts that cannot be reached do not hear of those who try.
    init(of backend: Int, on worker: String, in record: RunRecord) {
        self.record = record
        config = record.configs[0]
        end = record.ended
        let drawn = config.backends[backend]
        guard record.configs.count == 1, !record.weather.hides(drawn.hosts), !record.isSlow,
            !record.mayLackRoom, !losesRequests(to: backend)
        else {
            end = record.began
            return
        }
        end = min(end, firstTimeout(backend, worker) ?? end)
        let attempts = record.attempts.filter { $0.backend == backend && $0.worker == worker }
        for attempt in attempts { learn(from: attempt) }
        all = all.filter { $0.at < end }.sorted { $0.at < $1.at }
    }

    /// Whether a request that may not be sent again can have met the end of a kept connection unseen.
    private func losesRequests(to backend: Int) -> Bool {
        let calls = config.endpoints.flatMap(\.calls).filter { $0.backend == backend }
        return !calls.allSatisfy(\.isIdempotent) && record.losesConnections(to: backend)
    }

    /// A call that is given up for being slow is a lesson, even if its request never went out.
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
                    let strikes = start + .milliseconds(limit)
                    // Behind another request, or behind a padded answer, nobody sees when it is over.
                    let over = endpoint.minDuration == nil ? request.answered : nil
                    guard over.map({ $0 >= strikes }) ?? true else { continue }
                    first = min(first ?? strikes, strikes)
                }
            }
        }
        return first
    }

    private mutating func learn(from attempt: AttemptRecord) {
        guard let ended = attempt.ended else { return }
        let endpoint = config.endpoints[attempt.call.endpoint]
        let call = endpoint.calls[attempt.call.call]
        if attempt.isPoisoned {
            end = min(end, attempt.sent)
            return
        }
        switch attempt.act.outcome {
        case .answer(let status, _, _):
            guard attempt.read != nil else { return }
            all.append(Lesson(at: ended, host: attempt.host, isFailure: status >= 500))
        case .fails where attempt.mayBeResent && call.isIdempotent: break
        case .fails where isWanted(attempt, at: ended) && call.hedgeAfter == nil:
            all.append(Lesson(at: ended, host: attempt.host, isFailure: true))
        case .fails: end = min(end, ended)
        // Given up; before the first timeout that is no lesson.
        case .nothing: break
        }
    }

    /// Whether its request was still waited for.
    private func isWanted(_ attempt: AttemptRecord, at ended: Instant) -> Bool {
        guard let request = record.request(of: attempt),
            config.endpoints[attempt.call.endpoint].minDuration == nil
        else { return false }
        let over = [request.answered, request.clientLeft].compactMap { $0 }.min()
        return over.map { $0 > ended } ?? false
    }
}
