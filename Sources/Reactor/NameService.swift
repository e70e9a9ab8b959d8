package import Basics
import Promises

/// The host names of one process: one table for all its loops.
///
/// Created once per process and passed to its loops. A lock guards the table; a loop takes it only
/// to make a connection. The results of look-ups are messages to the loops that wait for them.
package final class NameService: Sendable {
    private let table = Guarded(NameTable<NameSubscriber>())
    private let lookUps: any NameLookUps

    package init(lookUps: any NameLookUps) {
        self.lookUps = lookUps
    }

    /// The number of cached names.
    package var count: Int { table.withLock { $0.count } }

    /// Adds a reference to a name.
    func retain(_ host: String) { table.withLock { $0.retain(host) } }

    /// Removes a reference to a name.
    func release(_ host: String) { table.withLock { $0.release(host) } }

    /// The state of a referenced name; starts a look-up if one is needed and none runs.
    ///
    /// - Parameter subscriber: receives the result of the look-up; nil for no result
    func request(
        _ host: String, maxAge: Duration, for subscriber: NameSubscriber?, at now: Instant
    ) -> NameRequestResult {
        let (result, mustStart) = table.withLock {
            $0.request(host, maxAge: maxAge, for: subscriber, at: now)
        }
        if mustStart { startLookUp(of: host) }
        return result
    }

    /// No address of the name accepted a connection.
    func markUnreachable(_ host: String, at now: Instant) {
        table.withLock { $0.markUnreachable(host, at: now) }
    }

    /// The cached addresses of a name; looks nothing up.
    func addresses(of host: String) -> [IPAddress] { table.withLock { $0.addresses(of: host) } }

    /// Whether the last look-up of a name failed, and no address is cached.
    func isUnresolved(_ host: String) -> Bool { table.withLock { $0.isUnresolved(host) } }

    /// Starts the look-up of a name. If it cannot start, it fails, and the next name in the queue
    /// follows.
    private func startLookUp(of host: String) {
        var waiting: String? = host
        while let host = waiting {
            do throws(IOFailure) {
                try lookUps.startLookUp(of: host) { [self] result in
                    if let next = finishLookUp(host, result) { startLookUp(of: next) }
                }
                return
            } catch {
                waiting = finishLookUp(host, .failure(error))
            }
        }
    }

    /// Publishes a result to the loops that wait for it; returns the next name to look up.
    private func finishLookUp(_ host: String, _ result: Result<[IPAddress], IOFailure>) -> String? {
        let now = lookUps.now
        let publication = table.withLock { $0.finishLookUp(host, result, at: now) }
        let published = NameResult(host: host, result: publication.result)
        for subscriber in publication.subscribers { subscriber.inbox.post(published) }
        return publication.nextHost
    }
}

/// Performs name look-ups. Two conform: the system's threads and the simulation.
package protocol NameLookUps: Sendable {
    /// The clock of the process's loops.
    var now: Instant { get }

    /// Starts a look-up, which calls `onEnd` once, on any thread. If this throws, `onEnd` is not
    /// called.
    func startLookUp(
        of host: String, _ onEnd: @escaping @Sendable (Result<[IPAddress], IOFailure>) -> Void
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
