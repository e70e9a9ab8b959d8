import Basics
import HTTP
import HTTPClient
import JOSE
import Promises
import Reactor

/// The keys of an issuer on one worker: fetched at the start or when a token needs them, refreshed in
/// the background, and fetched once more when a token has an unknown `kid`.
final class IssuerKeys {
    private let loop: any Loop
    private var request: KeySetRequest
    private var schedule: KeySchedule
    private var keys: KeySet?
    /// The text of the set, and its `ETag`.
    private var text: Bytes?
    private var entityTag: FieldValue?
    /// Changes with the set.
    private(set) var generation = 0
    private var timer: Timer?
    /// The fetch under way.
    private var fetch: LocalPromise<Void>?
    private var isStopped = false
    /// Whether the last fetch failed; the log states the first failure of a series only.
    private var isFailing = false
    private let log: KeyLog
    /// The algorithms of the tokens that the keys must verify.
    private var algorithms: [SignatureAlgorithm]

    /// How long a request waits for a fetch.
    static let waitMax = Duration.seconds(1)

    init(
        _ plan: IssuerKeysPlan, _ request: KeySetRequest, for algorithms: [SignatureAlgorithm],
        loop: any Loop, log: KeyLog
    ) {
        self.loop = loop
        self.request = request
        self.algorithms = algorithms
        self.log = log
        schedule = KeySchedule(
            refresh: plan.refresh, stale: plan.stale, interval: plan.interval, now: loop.now)
    }

    deinit { timer?.cancel() }

    /// Fetches the keys for the first time, before a token needs them.
    func start() { startFetch() }

    /// Continues with the connections and the algorithms of another plan.
    func continueWith(_ request: KeySetRequest, for algorithms: [SignatureAlgorithm]) {
        self.request = request
        guard algorithms != self.algorithms else { return }
        self.algorithms = algorithms
        logUselessKeys()
    }

    /// Cancels the fetch that runs and starts no more.
    func stop() {
        isStopped = true
        timer?.cancel()
        timer = nil
        fetch.take()?.cancel()
    }

    /// The keys, as long as they may be used.
    var usableKeys: KeySet? { schedule.isUsable(at: loop.now) ? keys : nil }

    /// The seconds since the set arrived or was confirmed; nil before the first one.
    var age: Int64? {
        schedule.fetchedAt.map { (loop.now - $0).inNanoseconds / 1_000_000_000 }
    }

    /// The seconds after which a client may try again.
    var retryAfter: Int { schedule.retryAfter(at: loop.now) }

    /// Fulfils at the end of a fetch, after a second, or at `end`; nil if none is under way and none
    /// may start, or if `end` has come.
    func waitForFetch(until end: Instant) -> LocalPromise<Void>? {
        if fetch == nil, !isStopped, schedule.mayFetch(at: loop.now) { startFetch() }
        let rest = min(Self.waitMax, end - loop.now)
        guard rest > .zero else { return nil }
        // Shielded: a client that goes away must not cancel the fetch that others wait for.
        return fetch?.shielded().timeout(rest).recover { [loop] error in
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
        fetch = request.send(entityTag).mapResult { [weak self] result in
            if let self { finishFetch(result) }
        }
    }

    private func finishFetch(_ result: Result<ClientResponse, any Error>) {
        fetch = nil
        guard !isStopped else { return }
        switch KeySetResponse(result, current: text) {
        case .changed(let keys, let text, let entityTag, let lifetime):
            self.keys = keys
            self.text = text
            self.entityTag = entityTag
            generation &+= 1
            recordSuccess()
            logUselessKeys()
            schedule.recordSuccess(at: loop.now, lifetime: lifetime)
        case .unchanged(let lifetime):
            recordSuccess()
            schedule.recordSuccess(at: loop.now, lifetime: lifetime)
        case .failed(let problem):
            if !isFailing { log.recordFailure(problem, hasKeys: keys != nil) }
            isFailing = true
            schedule.recordFailure(at: loop.now)
        }
        timer = loop.timer(after: schedule.due - loop.now) { [weak self] in self?.startFetch() }
    }

    private func recordSuccess() {
        if isFailing { log.recordSuccess() }
        isFailing = false
    }

    /// Without this line, every token is refused and nothing shows that the set is the reason.
    private func logUselessKeys() {
        guard let keys, !keys.canVerify(algorithms) else { return }
        log.recordUselessKeys(keys.problems(with: algorithms))
    }
}
