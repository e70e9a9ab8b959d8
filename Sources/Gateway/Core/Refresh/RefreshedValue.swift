import Basics
import Promises
import Reactor

/// A value that is fetched from elsewhere and expires, on one worker: one fetch at a time, at the start
/// or when a caller waits for it, and again in the background. While a refresh fails, the former value
/// is used as long as the rules allow.
///
/// A reload continues with the same object: it keeps the value, the times and a fetch under way.
final class RefreshedValue<Value> {
    /// Promises the value; a rejection is a failed fetch.
    ///
    /// - Parameter former: the last value, which the source may confirm
    typealias Fetch = (_ former: Value?) -> LocalPromise<Fetched<Value>>
    typealias Report = (RefreshEvent<Value>) -> Void

    private let loop: any Loop
    private var fetch: Fetch
    private var report: Report
    private var schedule: RefreshSchedule
    /// Also a value that must not be used any more.
    private(set) var latest: Value?
    /// Changes with the value.
    private(set) var generation = 0
    private var timer: Timer?
    /// The fetch under way.
    private var fetching: LocalPromise<Void>?

    /// Does not fetch yet.
    init(
        _ rules: RefreshRules, loop: any Loop, fetch: @escaping Fetch, report: @escaping Report
    ) {
        self.loop = loop
        self.fetch = fetch
        self.report = report
        schedule = RefreshSchedule(rules, now: loop.now)
    }

    deinit { timer?.cancel() }

    /// Fetches for the first time, before a caller needs the value.
    func start() { startFetch() }

    /// Continues with the connections and the log of another plan, for the same value by the same rules.
    func continueWith(_ fetch: @escaping Fetch, _ report: @escaping Report) {
        self.fetch = fetch
        self.report = report
    }

    /// Cancels the fetch that runs and starts no more.
    func stop() {
        schedule.stop()
        timer?.cancel()
        timer = nil
        fetching.take()?.cancel()
    }

    /// The value, as long as it may be used.
    var usable: Value? { schedule.isUsable(at: loop.now) ? latest : nil }

    /// The time since the value arrived or was confirmed; nil before the first one.
    var age: Duration? { schedule.fetchedAt.map { loop.now - $0 } }

    /// The seconds after which a client may try again.
    var retryAfter: Int { schedule.retryAfter(at: loop.now) }

    /// Fulfils at the end of a fetch, or at `end`; nil if none is under way and none may start, or if
    /// `end` has come.
    func waitForFetch(until end: Instant) -> LocalPromise<Void>? {
        if schedule.mayFetch(at: loop.now) { startFetch() }
        let rest = end - loop.now
        guard rest > .zero else { return nil }
        // Shielded: a client that goes away must not cancel the fetch that others wait for.
        return fetching?.shielded().timeout(rest).recover { [loop] error in
            // The client has gone.
            if error is Cancelled, (error as? Cancelled)?.cause == nil { throw error }
            return loop.local.value(())
        }
    }

    // MARK: Fetching

    private func startFetch() {
        timer?.cancel()
        timer = nil
        schedule.recordStart(at: loop.now)
        fetching = fetch(latest).mapResult { [weak self] result in
            if let self { finishFetch(result) }
        }
    }

    private func finishFetch(_ result: Result<Fetched<Value>, any Error>) {
        fetching = nil
        guard !schedule.isStopped else { return }
        let wasFailing = schedule.isFailing
        switch result {
        case .success(let fetched):
            schedule.recordSuccess(at: loop.now, lifetime: fetched.lifetime) {
                loop.entropy.below($0)
            }
            if wasFailing { report(.recovered) }
            if let changed = fetched.changed { adopt(changed) }
        case .failure(let error):
            schedule.recordFailure(at: loop.now)
            if !wasFailing { report(.failed(error, hasValue: latest != nil)) }
        }
        timer = loop.timer(after: schedule.due - loop.now) { [weak self] in self?.startFetch() }
    }

    private func adopt(_ value: Value) {
        latest = value
        generation &+= 1
        report(.changed(value))
    }
}

/// The result of a fetch that succeeded.
struct Fetched<Value> {
    /// Nil if the source has confirmed the former value.
    let changed: Value?
    /// How long the value is good; nil if the source does not state it.
    let lifetime: Duration?
}
