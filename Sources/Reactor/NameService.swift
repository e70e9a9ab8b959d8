package import Basics
import Promises

/// The host names of one process: one table for all its loops.
///
/// Made once per process and passed to its loops; a lock guards the table, which a loop needs only
/// when it makes a connection. The results of look-ups are messages to the loops that wait for them.
package final class NameService: Sendable {
    private let table = Guarded(NameTable<NameSubscriber>())
    private let lookUps: any NameLookUps

    package init(lookUps: any NameLookUps) {
        self.lookUps = lookUps
    }

    /// Names that are kept.
    package var count: Int { table.withLock { $0.count } }

    /// The name has one more holder.
    func hold(_ host: String) { table.withLock { $0.hold(host) } }

    /// The name has one holder less.
    func release(_ host: String) { table.withLock { $0.release(host) } }

    /// What is known of a held name; starts a look-up where none runs and one is needed.
    ///
    /// - Parameter subscriber: receives the result of the look-up, if it is given
    func request(
        _ host: String, maxAge: Duration, for subscriber: NameSubscriber?, at now: Instant
    ) -> NameAnswer {
        let (answer, mustStart) = table.withLock {
            $0.request(host, maxAge: maxAge, for: subscriber, at: now)
        }
        if mustStart { start(host) }
        return answer
    }

    /// None of the name's addresses accepted a connection.
    func suspect(_ host: String, at now: Instant) { table.withLock { $0.suspect(host, at: now) } }

    /// Starts the look-up of a name; where it cannot start, it fails, and the next name in the queue
    /// is tried.
    private func start(_ host: String) {
        var waiting: String? = host
        while let host = waiting {
            do throws(IOFailure) {
                try lookUps.start(host) { [self] result in
                    if let next = finished(host, result) { start(next) }
                }
                return
            } catch {
                waiting = finished(host, .failure(error))
            }
        }
    }

    /// Publishes a result to the loops that wait for it; returns the next name to look up.
    private func finished(_ host: String, _ result: Result<[IPAddress], IOFailure>) -> String? {
        let now = lookUps.now
        let publication = table.withLock { $0.finished(host, result, at: now) }
        let published = NameResult(host: host, result: publication.result)
        for subscriber in publication.subscribers { subscriber.inbox.post(published) }
        return publication.next
    }
}

/// How a process looks names up. Two conform: the system's threads and the simulation.
package protocol NameLookUps: Sendable {
    /// The clock of the process's loops.
    var now: Instant { get }

    /// Starts a look-up, which calls `onEnd` once, on whatever thread. Where it throws, `onEnd` is not
    /// called.
    func start(
        _ host: String, _ onEnd: @escaping @Sendable (Result<[IPAddress], IOFailure>) -> Void
    ) throws(IOFailure)
}

/// The result of a look-up, as a message to a loop.
package struct NameResult: Sendable {
    let host: String
    let result: Result<[IPAddress], IOFailure>
}

/// A loop that waits for results.
final class NameSubscriber: Sendable {
    let inbox: any MessageInbox<NameResult>

    init(_ inbox: any MessageInbox<NameResult>) { self.inbox = inbox }
}
