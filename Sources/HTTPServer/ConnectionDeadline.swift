import Basics
import HTTP
import Reactor

/// When the timeouts of a connection ends. One timer serves all it ever waits for: it is set anew
/// only when something is due earlier than it, so a kept connection makes one per idle time and
/// none per request.
struct ConnectionDeadline {
    /// What has moved over the connection: progress at a minimum rate prolongs some waits.
    struct Progress {
        /// Bytes that wait to be sent.
        var unsent = 0
        /// Bytes of bodies received since the connection began.
        var received = 0
    }

    private(set) var wait: ServerStateMachine.Wait?
    /// When this wait began.
    private(set) var since = Instant(nanoseconds: 0)
    private var due: Instant?
    /// The progress at the beginning of the time that is looked at, and that beginning.
    private var base = Progress()
    private var baseTime = Instant(nanoseconds: 0)
    /// Until when a client that read is taken to be reading.
    private var readsUntil: Instant?
    /// How often in a row the client was asked whether it is still there.
    private var probes = 0
    var timer: Timer?

    /// Notes what is waited for from now on. Nothing changes if it is the same as before.
    mutating func update(
        _ wait: ServerStateMachine.Wait?, _ timeouts: ConnectionTimeouts, _ progress: Progress,
        now: Instant
    ) {
        guard wait != self.wait else { return }
        self.wait = wait
        since = now
        readsUntil = nil
        set(timeouts, progress, now: now)
    }

    /// Waits once more for the same, longer each time. Nothing changes if the wait has just begun.
    mutating func prolongProbe(_ timeouts: ConnectionTimeouts, now: Instant) {
        guard let due, due <= now else { return }
        probes = min(probes + 1, 6)
        set(timeouts, Progress(), now: now)
    }

    private mutating func set(_ timeouts: ConnectionTimeouts, _ progress: Progress, now: Instant) {
        // Only the question whether the client is there is asked less and less often.
        if wait != .client { probes = 0 }
        base = progress
        baseTime = now
        due = wait.map { now.adding(timeouts[$0] << Int64(probes)) }
    }

    /// When a timer must be set; nil where one is that fires early enough, or nothing is waited for.
    var timerNeeded: Instant? {
        guard let due else { return nil }
        if let armed = timer?.due, armed <= due { return nil }
        return due
    }

    /// Whether timeouts has ended. A client that makes progress at the minimum rate gets more time:
    /// one that reads, as long as it reads; one that sends a body, up to `body_timeout`.
    mutating func hasPassed(_ timeouts: ConnectionTimeouts, _ progress: Progress, now: Instant)
        -> Bool
    {
        guard let due, due <= now else { return false }
        switch wait {
        case .output where base.unsent - progress.unsent >= timeouts.outputBytesMin:
            set(timeouts, progress, now: now)
        case .body:
            self.due = since.adding(timeouts.body(after: progress.received - base.received))
        case .output, .request, .firstRequest, .head, .client, .linger, .briefLinger, nil:
            return true
        }
        return self.due.map { $0 <= now } ?? false
    }

    /// Whether a client that has output waiting reads it, at the minimum rate or faster. Looked at anew
    /// after each `timeouts.readWindow`, so that what it read long ago does not count.
    mutating func reads(_ progress: Progress, _ timeouts: ConnectionTimeouts, now: Instant) -> Bool
    {
        if let readsUntil, now < readsUntil { return true }
        let time = (now - baseTime).inNanoseconds
        let taken = base.unsent - progress.unsent
        guard taken > 0, taken >= timeouts.outputBytes(in: time) else { return false }
        if time >= timeouts.readWindow {
            set(timeouts, progress, now: now)
            readsUntil = now.adding(timeouts.readWindow)
        }
        return true
    }

    mutating func cancel() {
        timer?.cancel()
        timer = nil
        due = nil
        wait = nil
    }
}

/// How long each thing is waited for, in nanoseconds, computed once per server.
struct ConnectionTimeouts {
    private let request, head, body, client, output, linger, briefLinger: Int64
    private let bodyGrace, bodyNanosecondsPerByte: Int64
    private let outputRate: Int64
    /// Over how long it is looked whether a client reads.
    let readWindow: Int64

    init(_ settings: ServerSettings) {
        let limits = settings.limits
        request = limits.idleTimeout.inNanoseconds
        head = limits.headerTimeout.inNanoseconds
        body = limits.bodyTimeout.inNanoseconds
        client = settings.probeInterval.inNanoseconds
        output = limits.writeTimeout.inNanoseconds
        linger = settings.lingerTimeout.inNanoseconds
        readWindow = settings.unreadGrace.inNanoseconds
        briefLinger = settings.settleTime.inNanoseconds
        bodyGrace = limits.bodyGrace.inNanoseconds
        bodyNanosecondsPerByte = 1_000_000_000 / Int64(max(1, limits.bodyBytesPerSecond))
        outputRate = Int64(max(1, limits.outputBytesPerSecond))
    }

    /// At the beginning of a wait.
    subscript(wait: ServerStateMachine.Wait) -> Int64 {
        switch wait {
        case .request: request
        case .firstRequest, .head: head
        case .body: min(body, bodyGrace)
        case .client: client
        case .output: output
        case .linger: linger
        case .briefLinger: briefLinger
        }
    }

    /// How long a body may take of which so many bytes have come: the grace, and the time that they
    /// need at the minimum rate, but never more than `body_timeout`.
    func body(after received: Int) -> Int64 {
        let (time, overflow) = Int64(max(0, received))
            .multipliedReportingOverflow(by: bodyNanosecondsPerByte)
        return overflow ? body : min(body, time.addingSaturated(bodyGrace))
    }

    /// What a client must take of its output in one `write_timeout`.
    var outputBytesMin: Int { outputBytes(in: output) }

    /// What a client takes at least in so many nanoseconds.
    func outputBytes(in time: Int64) -> Int {
        let (bytes, overflow) = max(0, time / 1_000_000)
            .multipliedReportingOverflow(by: outputRate)
        return overflow ? .max : max(1, Int(bytes / 1000))
    }
}

extension Instant {
    /// So many nanoseconds later; saturates at the end of time.
    fileprivate func adding(_ time: Int64) -> Instant {
        Instant(nanoseconds: nanoseconds.addingSaturated(time))
    }
}

extension Int64 {
    /// The sum, or the largest number where that is too large.
    fileprivate func addingSaturated(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
