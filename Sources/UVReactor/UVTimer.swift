import Basics
import CUV
import Promises
import Reactor

/// The one libuv timer of a loop: it serves the loop's whole `TimerQueue`.
///
/// It is armed for the earliest timer and moved only when an earlier one comes. Timers that are
/// cancelled, as most are, leave it as it is: it fires once for nothing and is armed anew.
final class UVTimer: HandleOwner {
    let queue = TimerQueue()
    private unowned let loop: UVLoop
    private let handle: Handle<uv_timer_t>
    private var armedFor: Instant?

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

    /// Sees to it that libuv calls in time for the earliest timer.
    func arm() {
        if let earliest = queue.earliest { arm(for: earliest) }
    }

    private func arm(for due: Instant) {
        if let armedFor, armedFor <= due { return }
        armedFor = due
        // libuv counts whole milliseconds of the same clock: rounded up, it never fires too early.
        let (whole, rest) = due.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000)
        let target = UInt64(max(0, whole + (rest > 0 ? 1 : 0)))
        let now = uv_now(loop.raw)
        let code = tributary_uv_timer_start(
            handle.raw,
            { timer in HandleOwner.owner(of: timer, as: UVTimer.self)?.fire() },
            target > now ? target - now : 0)
        if code < 0 {
            armedFor = nil
            loop.armTimersSoon()
        }
    }

    private func fire() {
        armedFor = nil
        loop.readClock()
        let now = loop.now
        let mark = queue.made
        while let action = queue.takeDue(at: now, madeBefore: mark) {
            action()
            loop.finishCallback()
        }
        arm()
    }
}
