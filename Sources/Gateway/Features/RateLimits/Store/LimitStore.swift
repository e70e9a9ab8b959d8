package import Basics
package import Promises
import RESP
package import Reactor
import TLS

/// The rate limits that replicas share, as one worker uses them. Owned by its gateway instance, which
/// keeps it across reloads as long as `store` stays the same.
package final class LimitStore {
    package let plan: StorePlan
    private let client: RESPClient
    private let loop: any Loop
    private let log: Log
    private let history: StoreHistory
    private(set) lazy var sync = LimitSync(
        loop: loop, onDrop: { [history] in history.counts.dropped += 1 },
        add: { [weak self] in self?.add($0) })

    /// The store's decision about a request.
    package struct Verdict: Equatable {
        package let isGranted: Bool
        /// For each charge how far its arrival time is ahead, in units of the script.
        package let ahead: [Int64]
    }

    /// - Parameter history: of the worker's stores before a reload
    package init(
        _ plan: StorePlan, loop: any Loop, log: Log, history: StoreHistory = StoreHistory()
    ) {
        self.plan = plan
        self.loop = loop
        self.log = log
        self.history = history
        var settings = plan.settings
        settings.trial = LimitScript.trial(key: Bytes(plan.keyPrefix.array + Array("probe".utf8)))
        client = RESPClient(
            settings, loop: loop, reportsFirstConnection: history.isLoggedAsDown
        ) { [log, history, url = plan.url] state in
            history.isLoggedAsDown = state != .up
            Self.record(state, url, log)
        }
        client.start()
    }

    /// Closes the connection. Requests that wait get no verdict.
    package func close() {
        sync.close()
        client.close()
    }

    /// Whether requests use the store. While it is false, none waits for it.
    package var isUp: Bool { client.isUp }

    /// For metrics.
    package var state: StoreState { StoreState(isUp: isUp, counts: history.counts) }

    private static func record(_ state: RESPClient.State, _ url: String, _ log: Log) {
        switch state {
        case .up: log.write(.info, "store up") { $0.add("url", url) }
        case .down(let failure):
            log.write(.warning, "store down") { line in
                line.add("url", url)
                line.add("reason", untrusted: Bytes("\(failure)"))
            }
        }
        log.flush()
    }

    // MARK: Charges

    /// Charges all keys if all of their buckets allow it. Fulfils with nil, at the latest after
    /// `timeout` and at `end`, if there is no decision; never rejects.
    ///
    /// - Parameter end: when the request stops to wait
    package func decide(
        _ charges: [StoreCharge], until end: Instant
    ) -> LocalPromise<Verdict?> {
        let rest = end - loop.now
        guard rest > .zero else { return loop.local.value(nil) }
        var verdict = run(.decide, charges)
        // Only the request's wait ends then: the command keeps its `timeout`, by which the store is
        // found to be down.
        if rest < plan.settings.timeout { verdict = verdict.timeout(rest) }
        return verdict.mapResult { [self] result in
            switch result {
            case .success(let verdict):
                history.counts.decided += 1
                return verdict
            case .failure:
                history.counts.failed += 1
                return nil
            }
        }
    }

    /// Charges or refunds the keys whatever their buckets allow. Fulfils with nil if the store has
    /// not confirmed it; never rejects.
    package func add(_ charges: [StoreCharge]) -> LocalPromise<Verdict?> {
        run(.add, charges).mapResult { try? $0.get() }
    }

    private struct InvalidReply: Error {}

    private func run(
        _ mode: LimitScript.Mode, _ charges: [StoreCharge]
    ) -> LocalPromise<Verdict> {
        let deadline = loop.now + plan.settings.timeout
        return client.send { LimitScript.write(.digest, mode, charges, to: &$0) }
            .then { [self] reply in
                guard case .error(let text) = reply, RESPErrorCode.isUnknownScript(text) else {
                    return loop.local.value(reply)
                }
                // Once, and within the time of the request.
                return client.send(until: deadline) {
                    LimitScript.write(.text, mode, charges, to: &$0)
                }
            }
            .map { reply in
                guard let verdict = Verdict(reply, count: charges.count) else {
                    throw InvalidReply()
                }
                return verdict
            }
    }

    // MARK: Keys

    /// The key of a limit's bucket; nil if it cannot be computed. No name or address is stored.
    func key(of text: LimitKeyText) -> Bytes? {
        guard let hash = SHA256.hash(text.bytes) else { return nil }
        return Bytes(plan.keyPrefix.array + hash.prefix(16))
    }
}

extension LimitStore.Verdict {
    /// Nil for anything but what the script returns.
    init?(_ reply: RESPValue, count: Int) {
        guard case .array(let values) = reply, values.count == count + 1,
            case .integer(let granted) = values[0]
        else { return nil }
        var ahead: [Int64] = []
        for value in values.dropFirst() {
            guard case .integer(let units) = value else { return nil }
            ahead.append(units)
        }
        self.init(isGranted: granted == 1, ahead: ahead)
    }
}

/// What a worker remembers of its stores across reloads: counters never decrease, and the log's last
/// line about the store is its present state.
package final class StoreHistory {
    fileprivate(set) var counts = StoreCounts()
    fileprivate var isLoggedAsDown = false

    package init() {}
}

/// How one worker has used the store.
package struct StoreCounts: Sendable, Equatable {
    /// Requests that the store decided about.
    package var decided = 0
    /// Requests that it did not decide about in time.
    package var failed = 0
    /// Uses of a key of a limit with `sync: INTERVAL` that were not sent.
    package var dropped = 0

    package init() {}
}

/// The store as one worker sees it.
package struct StoreState: Sendable, Equatable {
    package let isUp: Bool
    package let counts: StoreCounts

    package init(isUp: Bool, counts: StoreCounts) {
        self.isUp = isUp
        self.counts = counts
    }
}
