import Dispatch
import Foundation
import Promises
import PromisesDispatch
import Testing

/// Contexts that implement `ExecutionContext.schedule` in unusual ways. Whatever they do with a
/// timer's job, the nodes that wait for the same promise stay in their list.
@Suite(.timeLimit(.minutes(5))) struct UnusualScheduleTests {
    enum Schedule: CaseIterable {
        case runsAtOnce, enqueuesAtOnce, runsOnAnotherThread, enqueuesElsewhere, ignoresCancel
        case hasTheTimerOfAnotherContext, drops

        var fires: Bool { self != .drops }
    }

    final class Context: ExecutionContext {
        let jobs = QueueContext(DispatchQueue(label: "jobs"))
        let other = QueueContext(DispatchQueue(label: "other"))
        let schedule: Schedule
        let fired = DispatchGroup()

        init(_ schedule: Schedule) { self.schedule = schedule }

        var isCurrent: Bool { jobs.isCurrent }
        func enqueue(_ job: consuming PromiseJob) { jobs.enqueue(job) }

        func schedule(after delay: Duration, _ job: consuming PromiseJob) -> any Cancellable {
            switch schedule {
            case .runsAtOnce: job.run()
            case .enqueuesAtOnce: jobs.enqueue(job)
            case .runsOnAnotherThread: onAnotherThread(job) { $0.run() }
            case .enqueuesElsewhere: other.enqueue(job)
            case .ignoresCancel:
                let timer = jobs.schedule(after: delay, job)
                return Ignored(timer: timer)
            case .hasTheTimerOfAnotherContext: return other.schedule(after: delay, job)
            case .drops: _ = consume job
            }
            return Ignored(timer: nil)
        }

        /// Passes the job to another thread.
        private func onAnotherThread(
            _ job: consuming PromiseJob, _ body: @escaping @Sendable (consuming PromiseJob) -> Void
        ) {
            let box = TimerBox(job)
            Thread { if let job = box.take() { body(job) } }.start()
        }
    }

    struct Ignored: Cancellable {
        let timer: (any Cancellable)?
        func cancel(because cause: (any Error)?) {}
    }

    @Test(arguments: Schedule.allCases) func consumersStayInTheList(_ schedule: Schedule) async {
        for _ in 0..<20 {
            let context = Context(schedule)
            let resolver = Resolver<Int>(on: context).shared()
            let promise = resolver.promise
            let before = promise.map { $0 + 1 }
            let evaluations = Journal<Bool>()
            @Sendable func timeOut() -> any Error {
                evaluations.add(context.isCurrent)
                return PromiseError.timedOut
            }
            let limited = promise.timeout(.milliseconds(1), error: timeOut())
            let between = promise.map { $0 + 2 }
            let held = promise.atLeast(.milliseconds(1))
            let behind = promise.map { $0 + 3 }
            if schedule.fires {
                #expect(await limited.settled.get().failure as? PromiseError == .timedOut)
                #expect(evaluations.entries == [true], "the timer's handler runs on its context")
            }
            resolver.fulfill(10)
            for (one, value) in [(before, 11), (between, 12), (behind, 13)] {
                #expect(await one.settled.get().success == value)
            }
            if schedule.fires { #expect(await held.settled.get().success == 10) }
        }
    }

    @Test(arguments: Schedule.allCases.filter(\.fires))
    func timerAndOutcomeMayBeConcurrent(_ schedule: Schedule) async {
        for _ in 0..<50 {
            let context = Context(schedule)
            let resolver = Resolver<Int>(on: context).shared()
            let promise = resolver.promise
            let before = promise.map { $0 + 1 }
            let limited = promise.timeout(.zero)
            let held = promise.atLeast(.zero)
            let behind = promise.map { $0 + 2 }
            resolver.fulfill(10)
            #expect(await before.settled.get().success == 11)
            #expect(await held.settled.get().success == 10)
            #expect(await behind.settled.get().success == 12)
            _ = await limited.settled.get()
        }
    }

    @Test("a timer dropped on another thread is freed on its context")
    func aTimerDroppedOnAnotherThreadIsFreedOnItsContext() async throws {
        let context = Context(.runsAtOnce)
        let other = DroppingContext(context)
        let freed = Journal<Bool>()
        try await Promise(on: context) {
            LocalContext.run(on: other) { local in
                // After the value has arrived, only the timer holds it.
                let token = Token { freed.add(context.isCurrent) }
                _ = local.value(token).atLeast(.seconds(1))
            }
        }.get()
        other.dropped.wait()
        try await Promise.value(1, on: context).map { _ in }.get()
        #expect(freed.entries == [true])
    }

    /// Drops the jobs of its timers on another thread.
    final class DroppingContext: ExecutionContext {
        let jobs: Context
        let dropped = DispatchSemaphore(value: 0)

        init(_ jobs: Context) { self.jobs = jobs }

        var isCurrent: Bool { jobs.isCurrent }
        func enqueue(_ job: consuming PromiseJob) { jobs.enqueue(job) }

        func schedule(after delay: Duration, _ job: consuming PromiseJob) -> any Cancellable {
            let box = TimerBox(job)
            let dropped = dropped
            // After the calling handler, which holds the promise.
            let next = Promise.value(1, on: jobs)
            next.whenSettled { _ in
                Thread {
                    _ = box.take()
                    dropped.signal()
                }.start()
            }
            return Ignored(timer: nil)
        }
    }
}

/// A job that is passed to another thread.
private final class TimerBox: @unchecked Sendable {
    private let lock = NSLock()
    private var job: PromiseJob?

    init(_ job: consuming PromiseJob) { self.job = consume job }

    func take() -> PromiseJob? {
        lock.lock()
        defer { lock.unlock() }
        return job.take()
    }
}
