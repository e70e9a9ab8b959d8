package import Basics
package import Promises
package import Reactor

/// Monitors the workers: sends heartbeats, logs which worker stops answering, collects
/// snapshots. It never waits for a worker, so the control loop works while any of them hangs.
///
/// Owned by the daemon, on the control loop. It needs only a `Loop`, so tests run it in virtual
/// time.
package final class WorkerMonitor {
    /// Between two heartbeats of a worker: short compared with the limits below, and only two
    /// wake-ups per second and worker for an idle process.
    package static let heartbeatInterval = Duration.milliseconds(500)

    /// The process is not ready while a heartbeat has been unanswered for so long.
    package static let readyLimit = Duration.seconds(2)

    /// The process counts as dead when a heartbeat has been unanswered for so long.
    package static let liveLimit = Duration.seconds(10)

    /// How long a page waits for snapshots: less than the timeout of any scraper.
    package static let snapshotLimit = Duration.milliseconds(500)

    private struct Watched {
        let worker: WorkerHandle
        var heartbeat = Heartbeat()
        /// The last heartbeat before the present configuration was sent: an answer to a later one
        /// shows that the worker has read it.
        var lastBeforeConfiguration: UInt64?
        /// Since when it does not answer, once that was logged.
        var silentSince: Instant?
        /// One request is outstanding at most, so that the inbox of a worker that hangs does not
        /// grow with every page.
        var owesSnapshot = false
        var snapshot: WorkerSnapshot?
    }

    /// One page that waits for snapshots.
    private final class Round {
        var missing: Set<Int>
        var resolver: LocalResolver<Set<Int>>?
        var timer: Timer?

        init(of workers: [Int], resolver: consuming LocalResolver<Set<Int>>) {
            missing = Set(workers)
            self.resolver = consume resolver
        }
    }

    /// Collects what the workers recorded about requests that have ended.
    package let recent: RecentCollector

    private let loop: any Loop
    private let log: Log
    private var workers: [Watched] = []
    private var rounds: [Round] = []
    private var timer: Timer?

    package init(loop: any Loop, log: Log) {
        self.loop = loop
        self.log = log
        recent = RecentCollector(loop: loop)
    }

    /// Makes promises on the control loop.
    package var local: LocalContext { loop.local }

    /// Adds a worker; the one with the index 0 comes first.
    package func add(_ worker: WorkerHandle) {
        workers.append(Watched(worker: worker))
        recent.add(worker)
    }

    /// Stops the heartbeats and completes all pages that wait.
    package func stop() {
        timer?.cancel()
        for round in rounds { finish(round) }
        recent.stop()
    }

    // MARK: Heartbeats

    /// Starts the heartbeats. Called after the workers listen, so that a worker that still compiles
    /// a large configuration does not look hung.
    package func startHeartbeats() { sendHeartbeats() }

    private func sendHeartbeats() {
        for index in workers.indices where !workers[index].worker.hasEnded {
            logChange(of: index)
            sendHeartbeat(to: index)
        }
        log.flush()
        timer = loop.timer(after: Self.heartbeatInterval) { [weak self] in self?.sendHeartbeats() }
    }

    private func sendHeartbeat(to index: Int) {
        let worker = workers[index].worker
        let next = workers[index].heartbeat.next(answered: worker.answeredHeartbeat, at: loop.now)
        if let next { worker.send(.heartbeat(next)) }
    }

    private func logChange(of index: Int) {
        let age = age(of: index)
        if let since = workers[index].silentSince {
            guard age < Self.readyLimit else { return }
            workers[index].silentSince = nil
            log.write(.warning, "worker answers again") { [loop] line in
                line.add("worker", index)
                line.add(milliseconds: "ms", loop.now - since)
            }
        } else if age >= Self.readyLimit {
            workers[index].silentSince = loop.now + (.zero - age)
            log.write(.error, "worker does not answer") { line in
                line.add("worker", index)
                line.add(milliseconds: "ms", age)
                if lacksConfiguration(index) {
                    line.add("configuration", "not installed yet")
                }
            }
        }
    }

    private func age(of index: Int) -> Duration {
        workers[index].heartbeat.age(
            answered: workers[index].worker.answeredHeartbeat, at: loop.now)
    }

    /// The workers, by number, with a heartbeat unanswered for this long.
    package func workersSilent(for limit: Duration) -> [Int] {
        workers.indices.filter { !workers[$0].worker.hasEnded && age(of: $0) >= limit }
    }

    // MARK: Configurations

    /// Called after a configuration was sent to every worker.
    package func configurationSent() {
        for index in workers.indices {
            workers[index].lastBeforeConfiguration = workers[index].heartbeat.number
        }
    }

    private func lacksConfiguration(_ index: Int) -> Bool {
        guard let last = workers[index].lastBeforeConfiguration else { return false }
        return workers[index].worker.answeredHeartbeat <= last
    }

    // MARK: Snapshots

    /// One report of each worker that still runs, within `snapshotLimit`.
    package func reports() -> LocalPromise<[WorkerReport]> {
        let running = workers.indices.filter { !workers[$0].worker.hasEnded }
        let resolver = LocalResolver<Set<Int>>(on: loop.local)
        let promise = resolver.promise
        let round = Round(of: running, resolver: resolver)
        rounds.append(round)
        round.timer = loop.timer(after: Self.snapshotLimit) { [weak self, weak round] in
            if let round { self?.finish(round) }
        }
        for index in running where !workers[index].owesSnapshot {
            workers[index].owesSnapshot = true
            workers[index].worker.send(.takeSnapshot)
        }
        if running.isEmpty { finish(round) }
        return promise.map { [self] missing in
            running.filter { !workers[$0].worker.hasEnded }.map { index in
                WorkerReport(
                    worker: index, isUp: !missing.contains(index), heartbeatAge: age(of: index),
                    snapshot: workers[index].snapshot)
            }
        }
    }

    /// Stores the snapshot of a worker.
    package func received(_ snapshot: WorkerSnapshot, from index: Int) {
        workers[index].owesSnapshot = false
        workers[index].snapshot = snapshot
        settle(index)
    }

    /// Records that a worker has ended; no page waits for it any more.
    package func ended(_ index: Int) {
        settle(index)
        recent.ended(index)
    }

    private func settle(_ index: Int) {
        for round in rounds {
            round.missing.remove(index)
            if round.missing.isEmpty { finish(round) }
        }
    }

    private func finish(_ round: Round) {
        round.timer?.cancel()
        rounds.removeAll { $0 === round }
        round.resolver.take()?.fulfill(round.missing)
    }
}
