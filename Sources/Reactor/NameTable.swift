package import Basics

/// The addresses of the host names that one process uses, and the look-ups of these names.
///
/// Events in, actions out: it does no I/O and reads no clock, so the daemon (behind a lock) and the
/// simulation share it. Each process has one, for all its loops.
///
/// Three rules:
/// - A name has at most one look-up at a time, however long it takes, and a look-up that hangs
///   delays no other name as long as fewer than `runningMax` run.
/// - Known addresses stay in use while a look-up runs and after it failed; only the answer that the
///   name does not exist removes them.
/// - A failed look-up is not repeated for a while, so that requests cause no look-up each.
///
/// - `Subscriber`: a loop that is to receive the result of a look-up
package struct NameTable<Subscriber: AnyObject> {
    /// The result of a look-up, for all loops that wait for it.
    package struct Publication {
        package let result: Result<[IPAddress], IOFailure>
        package let subscribers: [Subscriber]
        /// The next name in the queue, whose look-up can start now.
        package let next: String?
    }

    private enum LookUp {
        case none
        case queued(since: Instant)
        case running(since: Instant)
    }

    private struct Entry {
        /// Holders; the name is dropped with the last one.
        var holders = 0
        var addresses: [IPAddress] = []
        /// When the name service gave them.
        var learned = Instant(nanoseconds: .min)
        /// None of them accepted a connection.
        var isSuspect = false
        var suspectedBefore = Instant(nanoseconds: .min)
        var failure: (reason: IOFailure, until: Instant)?
        var lookUp = LookUp.none
        var subscribers: [Subscriber] = []
    }

    private let settings: NameSettings
    private var entries: [String: Entry] = [:]
    /// Names whose look-up waits for a free place, the oldest first.
    private var queue: [String] = []
    private var running = 0

    package init(_ settings: NameSettings = NameSettings()) {
        self.settings = settings
    }

    /// How many names are kept.
    package var count: Int { entries.count }

    // MARK: Holding

    /// The name has one more holder: what is learned of it is kept.
    package mutating func hold(_ host: String) {
        entries[host, default: Entry()].holders += 1
    }

    /// The name has one holder less.
    package mutating func release(_ host: String) {
        guard entries[host] != nil else { return }
        entries[host]?.holders -= 1
        dropUnused(host)
    }

    /// A running look-up keeps its entry: a second one for the name must not start beside it.
    private mutating func dropUnused(_ host: String) {
        guard let entry = entries[host], entry.holders <= 0 else { return }
        switch entry.lookUp {
        case .none: entries[host] = nil
        case .queued:
            entries[host] = nil
            queue.removeAll { $0 == host }
        case .running: break
        }
    }

    // MARK: Asking

    /// What is known of a name that is held.
    ///
    /// - Parameters:
    ///   - maxAge: addresses this old or older have expired and are looked up again
    ///   - subscriber: receives the result of the look-up if the answer is `.pending`; nil for a
    ///     refresh whose result nothing waits for
    /// - Returns: the answer, and whether the caller has to start the look-up of this name
    package mutating func request(
        _ host: String, maxAge: Duration, for subscriber: Subscriber?, at now: Instant
    ) -> (answer: NameAnswer, mustStart: Bool) {
        guard var entry = entries[host] else { return (.failed(.cancelled), false) }
        if !entry.addresses.isEmpty, !entry.isSuspect, now - entry.learned < maxAge {
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
        return (.pending(known: entry.addresses, since: since), mustStart)
    }

    /// None of the addresses accepted a connection: the next request looks the name up again, and
    /// the addresses stay in use meanwhile.
    package mutating func suspect(_ host: String, at now: Instant) {
        guard let entry = entries[host], now >= entry.suspectedBefore else { return }
        entries[host]?.isSuspect = true
        entries[host]?.suspectedBefore = now + settings.suspectedEvery
    }

    // MARK: Answers of the name service

    /// The look-up of a name has ended.
    package mutating func finished(
        _ host: String, _ result: Result<[IPAddress], IOFailure>, at now: Instant
    ) -> Publication {
        running -= 1
        let next = startNext(at: now)
        guard var entry = entries[host] else {
            return Publication(result: .failure(.cancelled), subscribers: [], next: next)
        }
        let subscribers = entry.subscribers
        entry.subscribers = []
        entry.lookUp = .none
        entry.isSuspect = false
        let published = learn(result, &entry, at: now)
        entries[host] = entry
        dropUnused(host)
        return Publication(result: published, subscribers: subscribers, next: next)
    }

    private func learn(
        _ result: Result<[IPAddress], IOFailure>, _ entry: inout Entry, at now: Instant
    ) -> Result<[IPAddress], IOFailure> {
        switch result {
        case .success(let addresses) where !addresses.isEmpty:
            entry.addresses = addresses
            entry.learned = now
            entry.failure = nil
            return .success(addresses)
        case .success, .failure(.hostNotFound):
            entry.addresses = []
            entry.failure = (.hostNotFound, now + settings.missingFor)
            return .failure(.hostNotFound)
        case .failure(let reason):
            entry.failure = (reason, now + settings.failedFor)
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

/// What a process knows of a name.
package enum NameAnswer: Equatable, Sendable {
    case addresses([IPAddress])
    /// The last look-up failed a moment ago.
    case failed(IOFailure)
    /// A look-up runs, or waits to run, since that moment; its result will be published. The known
    /// addresses, if there are any, may be used instead.
    case pending(known: [IPAddress], since: Instant)
}
