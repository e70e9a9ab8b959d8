import Basics
package import Promises
import Reactor

/// Collects what the workers recorded about requests that have ended, for the admin pages. It never waits
/// longer than `limit` for a worker.
///
/// Owned by the monitor, on the control loop.
package final class RecentCollector {
    /// As for other pages.
    package static let limit = WorkerMonitor.snapshotLimit

    /// Queries that a worker has not answered, at most, so that the inbox of a worker that hangs does not
    /// grow with every page.
    static let outstandingMax = 8

    /// The answers of the workers that answered in time, and the numbers of the others.
    package struct Answers: Sendable {
        package fileprivate(set) var contents: [(worker: Int, content: RecentAnswer.Content)] = []
        package fileprivate(set) var missing: [Int] = []
    }

    /// One page that waits for answers.
    private final class Round {
        var missing: Set<Int>
        var answers = Answers()
        var resolver: LocalResolver<Answers>?
        var timer: Timer?

        init(of workers: [Int], resolver: consuming LocalResolver<Answers>) {
            missing = Set(workers)
            self.resolver = consume resolver
        }
    }

    private struct Watched {
        let worker: WorkerHandle
        var outstanding = 0
    }

    private let loop: any Loop
    private var workers: [Watched] = []
    /// By the number of their queries.
    private var rounds: [UInt64: Round] = [:]
    private var number: UInt64 = 0

    init(loop: any Loop) {
        self.loop = loop
    }

    func add(_ worker: WorkerHandle) { workers.append(Watched(worker: worker)) }

    /// Completes all pages that wait.
    func stop() { for number in rounds.keys.sorted() { finish(number) } }

    /// Sends a query to each worker that runs; the argument is the worker's number.
    package func collect(_ content: (Int) -> RecentQuery.Content) -> LocalPromise<Answers> {
        number += 1
        let number = number
        let running = workers.indices.filter { !workers[$0].worker.hasEnded }
        let resolver = LocalResolver<Answers>(on: loop.local)
        let promise = resolver.promise
        let round = Round(of: running, resolver: resolver)
        rounds[number] = round
        round.timer = loop.timer(after: Self.limit) { [weak self] in self?.finish(number) }
        for index in running where workers[index].outstanding < Self.outstandingMax {
            workers[index].outstanding += 1
            workers[index].worker.send(.readRecent(RecentQuery(number: number, content(index))))
        }
        if running.isEmpty { finish(number) }
        return promise
    }

    /// Takes the answer of a worker; one that comes too late is dropped.
    package func received(_ answer: RecentAnswer, from index: Int) {
        guard workers.indices.contains(index) else { return }
        workers[index].outstanding -= 1
        guard let round = rounds[answer.number], round.missing.remove(index) != nil else { return }
        round.answers.contents.append((index, answer.content))
        if round.missing.isEmpty { finish(answer.number) }
    }

    /// Records that a worker has ended; no page waits for it any more.
    func ended(_ index: Int) {
        for (number, round) in rounds {
            round.missing.remove(index)
            if round.missing.isEmpty { finish(number) }
        }
    }

    private func finish(_ number: UInt64) {
        guard let round = rounds.removeValue(forKey: number) else { return }
        round.timer?.cancel()
        round.answers.contents.sort { $0.worker < $1.worker }
        round.answers.missing = round.missing.sorted()
        round.resolver.take()?.fulfill(round.answers)
    }
}
