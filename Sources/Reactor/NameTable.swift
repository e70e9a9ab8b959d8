package import Basics

/// The addresses of the host names that one process uses, and the look-ups of these names.
///
/// Events in, actions out: it does no I/O and reads no clock, so the daemon (behind a lock) and the
/// simulation share it. Each process has one for all its loops.
///
/// Three rules:
/// - A name has at most one look-up at a time, however long it takes. A hanging look-up delays no
///   other name while fewer than `runningMax` run.
/// - Cached addresses stay in use while a look-up runs and after it failed; only the result that
///   the name does not exist removes them.
/// - A failed look-up is not repeated for a while, so that requests do not cause a look-up each.
///
/// - `Subscriber`: a loop that receives the result of a look-up
package struct NameTable<Subscriber: AnyObject> {
    /// The result of a look-up, for all loops that wait for it.
    package struct Publication {
        package let result: Result<[IPAddress], IOFailure>
        package let subscribers: [Subscriber]
        /// The next name in the queue, whose look-up can start now.
        package let nextHost: String?
    }

    private enum LookUp {
        case none
        case queued(since: Instant)
        case running(since: Instant)
    }

    private struct Entry {
        /// The entry is removed with the last reference.
        var references = 0
        var addresses: [IPAddress] = []
        /// When the name service returned them.
        var resolvedAt = Instant(nanoseconds: .min)
        /// No address accepted a connection.
        var isUnreachable = false
        var nextUnreachableMark = Instant(nanoseconds: .min)
        var failure: (reason: IOFailure, until: Instant)?
        var lookUp = LookUp.none
        var subscribers: [Subscriber] = []
    }

    private let settings: NameSettings
    private var entries: [String: Entry] = [:]
    /// Names whose look-up is queued, the oldest first.
    private var queue: [String] = []
    private var running = 0

    package init(_ settings: NameSettings = NameSettings()) {
        self.settings = settings
    }

    /// The number of cached names.
    package var count: Int { entries.count }

    // MARK: References

    /// Adds a reference to the name: its addresses are cached.
    package mutating func retain(_ host: String) {
        entries[host, default: Entry()].references += 1
    }

    /// Removes a reference to the name.
    package mutating func release(_ host: String) {
        guard entries[host] != nil else { return }
        entries[host]?.references -= 1
        dropUnused(host)
    }

    /// A running look-up keeps its entry, since a second one for the same name must not start.
    private mutating func dropUnused(_ host: String) {
        guard let entry = entries[host], entry.references <= 0 else { return }
        switch entry.lookUp {
        case .none: entries[host] = nil
        case .queued:
            entries[host] = nil
            queue.removeAll { $0 == host }
        case .running: break
        }
    }

    // MARK: Requests

    /// The state of a referenced name.
    ///
    /// - Parameters:
    ///   - maxAge: addresses this old or older have expired and are looked up again
    ///   - subscriber: receives the result of the look-up if the state is `.pending`; nil for a
    ///     refresh without a receiver
    /// - Returns: the state, and whether the caller has to start the look-up of this name
    package mutating func request(
        _ host: String, maxAge: Duration, for subscriber: Subscriber?, at now: Instant
    ) -> (result: NameRequestResult, mustStart: Bool) {
        guard var entry = entries[host] else { return (.failed(.cancelled), false) }
        if !entry.addresses.isEmpty, !entry.isUnreachable, now - entry.resolvedAt < maxAge {
            return (.addresses(entry.addresses), false)
        }
        if let failure = entry.failure, now < failure.until {
            return (
                entry.addresses.isEmpty ? .failed(failure.reason) : .addresses(entry.addresses),
                false
            )
        }
        if let subscriber, !entry.subscribers.contains(where: { $0 === subscriber }) {
            entry.subscribers.append(subscriber)
        }
        var since = now
        var mustStart = false
        switch entry.lookUp {
        case .queued(let start), .running(let start): since = start
        case .none where running < settings.runningMax:
            running += 1
            entry.lookUp = .running(since: now)
            mustStart = true
        case .none:
            entry.lookUp = .queued(since: now)
            queue.append(host)
        }
        entries[host] = entry
        return (.pending(cached: entry.addresses, since: since), mustStart)
    }

    /// No address accepted a connection: the next request looks the name up again, and the cached
    /// addresses stay in use meanwhile.
    package mutating func markUnreachable(_ host: String, at now: Instant) {
        guard let entry = entries[host], now >= entry.nextUnreachableMark else { return }
        entries[host]?.isUnreachable = true
        entries[host]?.nextUnreachableMark = now + settings.unreachableInterval
    }

    /// The cached addresses of a name; looks nothing up.
    package func addresses(of host: String) -> [IPAddress] { entries[host]?.addresses ?? [] }

    /// Whether the last look-up of a name failed, and no address is cached.
    package func isUnresolved(_ host: String) -> Bool {
        guard let entry = entries[host] else { return false }
        return entry.addresses.isEmpty && entry.failure != nil
    }

    // MARK: Results of the name service

    /// The look-up of a name has ended.
    package mutating func finishLookUp(
        _ host: String, _ result: Result<[IPAddress], IOFailure>, at now: Instant
    ) -> Publication {
        running -= 1
        let next = startNext(at: now)
        guard var entry = entries[host] else {
            return Publication(result: .failure(.cancelled), subscribers: [], nextHost: next)
        }
        let subscribers = entry.subscribers
        entry.subscribers = []
        entry.lookUp = .none
        entry.isUnreachable = false
        let published = storeResult(result, &entry, at: now)
        entries[host] = entry
        dropUnused(host)
        return Publication(result: published, subscribers: subscribers, nextHost: next)
    }

    private func storeResult(
        _ result: Result<[IPAddress], IOFailure>, _ entry: inout Entry, at now: Instant
    ) -> Result<[IPAddress], IOFailure> {
        switch result {
        case .success(let addresses) where !addresses.isEmpty:
            entry.addresses = addresses
            entry.resolvedAt = now
            entry.failure = nil
            return .success(addresses)
        case .success, .failure(.hostNotFound):
            entry.addresses = []
            entry.failure = (.hostNotFound, now + settings.notFoundTTL)
            return .failure(.hostNotFound)
        case .failure(let reason):
            entry.failure = (reason, now + settings.failureTTL)
            return entry.addresses.isEmpty ? .failure(reason) : .success(entry.addresses)
        }
    }

    /// Takes the next name out of the queue.
    private mutating func startNext(at now: Instant) -> String? {
        guard !queue.isEmpty, running < settings.runningMax else { return nil }
        let host = queue.removeFirst()
        running += 1
        entries[host]?.lookUp = .running(since: now)
        return host
    }
}

/// The state of a name in the table of a process.
package enum NameRequestResult: Equatable, Sendable {
    case addresses([IPAddress])
    /// The last look-up failed a short time ago.
    case failed(IOFailure)
    /// A look-up runs, or is queued, since that moment; its result will be published. The cached
    /// addresses, if there are any, may be used instead.
    case pending(cached: [IPAddress], since: Instant)
}
