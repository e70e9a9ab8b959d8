import Basics
import CUV
import Promises
import Reactor

/// The libuv timer of a loop, which serves its whole `TimerQueue`.
///
/// It is armed for the earliest timer and changed only for an earlier one. Cancelling, the usual
/// end of a timer, does not change it: it then fires once without effect and is armed again.
final class UVTimer: HandleOwner {
    let queue = TimerQueue()
    private unowned let loop: UVLoop
    private let handle: Handle<uv_timer_t>
    private var armedFor: Instant?
    private var isRunning = false

    init(on loop: UVLoop) throws(IOFailure) {
        self.loop = loop
        handle = try Handle { timer in tributary_uv_timer_init(loop.raw, timer) }
        super.init()
        handle.setOwner(self)
    }

    func add(due: Instant, _ action: @escaping () -> Void) -> Timer {
        arm(for: due)
        return queue.add(due: due, action)
    }

    func add(due: Instant, _ job: consuming PromiseJob) -> Timer {
        arm(for: due)
        return queue.add(due: due, job)
    }

    /// Arms the libuv timer for the earliest timer.
    func arm() {
        if let earliest = queue.earliest { arm(for: earliest) }
    }

    private func arm(for due: Instant) {
        // libuv would run a timer that starts in its callback before it polls the sockets.
        if isRunning { return }
        if let armedFor, armedFor <= due { return }
        armedFor = due
        // libuv counts whole milliseconds of the same clock: rounded up, so that it never fires too
        // early.
        let (whole, rest) = due.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000)
        let target = UInt64(max(0, whole + (rest > 0 ? 1 : 0)))
        let now = uv_now(loop.raw)
        // What is due already must not wait for the next whole millisecond.
        let isDue = due <= loop.now
        start(milliseconds: !isDue && target > now ? target - now : 0)
    }

    private func start(milliseconds: UInt64) {
        let code = tributary_uv_timer_start(
            handle.raw,
            { timer in HandleOwner.owner(of: timer, as: UVTimer.self)?.runDueTimers() },
            milliseconds)
        guard code < 0 else { return }
        armedFor = nil
        _ = loop.armTimersSoon()
    }

    /// So that many timers that are due at the same time, such as the timers of requests that wait for
    /// a backend, do not delay the sockets of others: they are polled in between.
    private static let timersPerIteration = 64

    /// Runs what was due when the sockets were polled. After a long callback, what a timeout waits for
    /// may be in a socket: the sockets come before timers that became due meanwhile.
    private func runDueTimers() {
        armedFor = nil
        isRunning = true
        let polled = loop.now
        let now = loop.readClock()
        let mark = queue.addedCount
        for _ in 0..<Self.timersPerIteration {
            guard let action = queue.takeDue(at: polled, addedBefore: mark) else { break }
            action()
            loop.finishCallback()
        }
        isRunning = false
        guard let earliest = queue.earliest else { return }
        guard earliest <= now else { return arm(for: earliest) }
        // Without the idle handle, after the shortest time with which libuv polls the sockets first.
        if !loop.armTimersSoon() { start(milliseconds: 1) }
    }
}
