import Basics
import Promises
import Reactor

/// Synchronises the buckets of limits with `sync: INTERVAL`: sends what this worker granted since the
/// last time, and takes over the arrival time of the store where it is later. Owned by its store.
final class LimitSync {
    /// What requests used of one bucket.
    struct Usage {
        /// The sum of the charges; negative after refunds.
        private(set) var charge: StoreCharge
        /// The time at which one charge of the sum equals the charges one by one, in units of the store.
        private var start: Int64
        /// The bucket in the cells.
        let cellKey: UInt64
        let rate: TokenBucket
        /// How far the arrival time may be ahead beyond a burst, in units of `TokenBucket`.
        let slack: Int64

        init(
            charge: StoreCharge, at now: Instant, cellKey: UInt64, rate: TokenBucket, slack: Int64
        ) {
            self.charge = charge
            start = StoreBucket.time(of: now)
            self.cellKey = cellKey
            self.rate = rate
            self.slack = slack
        }

        /// Adds what was charged earlier.
        mutating func add(_ former: Usage) {
            start =
                charge.charge > 0 ? max(former.start, start - former.charge.charge) : former.start
            charge.add(former.charge)
        }

        /// The sum as a charge that is sent now.
        func charge(at now: Instant) -> StoreCharge {
            var charge = charge
            charge.age = StoreBucket.time(of: now) - start
            return charge
        }
    }

    private let loop: any Loop
    /// Nil if the store is gone.
    private let add: ([StoreCharge]) -> LocalPromise<LimitStore.Verdict?>?
    private let onDrop: () -> Void
    private var batches: [Duration: Batch] = [:]
    /// Requests that began before a reload may still charge and refund the former store.
    private var isClosed = false

    /// Batches that are due and not sent yet, divided into runs.
    private var waiting: [[Usage]] = []
    private var runsInFlight = 0
    /// Keys in the batches and in `waiting`.
    private var keys = 0

    private struct Batch {
        var usages: [[UInt8]: Usage] = [:]
        let timer: Timer
    }

    /// Keys in one run of the script; the store does nothing else while it runs.
    private static let runKeysMax = 64
    /// Keys at which a batch is sent before its interval ends.
    static let batchKeysMax = 4_096
    /// Runs without a reply, so that a slow store is not flooded.
    static let runsMax = 16
    /// Keys that are remembered in all, because clients choose the number of keys. The use of further
    /// keys is not sent.
    static let keysMax = 16_384

    /// - Parameters:
    ///   - onDrop: called for each use of a key that is not sent, because too many keys are remembered
    ///   - add: charges keys in the store
    init(
        loop: any Loop, onDrop: @escaping () -> Void,
        add: @escaping ([StoreCharge]) -> LocalPromise<LimitStore.Verdict?>?
    ) {
        self.loop = loop
        self.onDrop = onDrop
        self.add = add
    }

    /// Adds to what the next run of the interval sends; without effect after `close`.
    func record(_ usage: Usage, every interval: Duration, _ cells: LimitCells) {
        guard !isClosed else { return }
        let key = usage.charge.key.array
        let former = batches[interval]?.usages[key]
        if former == nil {
            guard keys < Self.keysMax else { return onDrop() }
            keys += 1
        }
        if batches[interval] == nil {
            let timer = loop.timer(after: interval) { [weak self] in
                self?.send(interval, cells)
            }
            batches[interval] = Batch(timer: timer)
        }
        // A reload may have changed the rate: the newest one applies.
        var usage = usage
        if let former { usage.add(former) }
        batches[interval]?.usages[key] = usage
        if (batches[interval]?.usages.count ?? 0) >= Self.batchKeysMax { send(interval, cells) }
    }

    /// Drops what was not sent, and all that is recorded later.
    func close() {
        isClosed = true
        for batch in batches.values { batch.timer.cancel() }
        batches = [:]
        waiting = []
        keys = 0
    }

    private func send(_ interval: Duration, _ cells: LimitCells) {
        guard let batch = batches.removeValue(forKey: interval) else { return }
        batch.timer.cancel()
        // Sorted, so that the order does not depend on the hashes of the dictionary.
        let usages = batch.usages.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.value)
        for start in stride(from: 0, to: usages.count, by: Self.runKeysMax) {
            waiting.append(Array(usages[start..<min(usages.count, start + Self.runKeysMax)]))
        }
        startRuns(cells)
    }

    private func startRuns(_ cells: LimitCells) {
        while runsInFlight < Self.runsMax, !waiting.isEmpty {
            let usages = waiting.removeFirst()
            keys -= usages.count
            run(usages, cells)
        }
    }

    private func run(_ usages: [Usage], _ cells: LimitCells) {
        let loop = loop
        runsInFlight += 1
        add(usages.map { $0.charge(at: loop.now) })?.whenSettled { [weak self] result in
            if let self {
                runsInFlight -= 1
                startRuns(cells)
            }
            guard case .success(let verdict?) = result else { return }
            let now = loop.now
            for (usage, ahead) in zip(usages, verdict.ahead) {
                let arrival = TokenBucket.time(of: now) + StoreBucket.cellUnits(ahead)
                cells.raise(
                    usage.cellKey, to: arrival, of: usage.rate, slack: usage.slack, at: now)
            }
        }
    }
}
