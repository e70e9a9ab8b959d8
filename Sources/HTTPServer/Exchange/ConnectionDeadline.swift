import Basics
import HTTP
import Reactor

/// The deadline of a connection's present wait. One timer serves all waits: it is set again only
/// for an earlier deadline, so a persistent connection sets one timer per idle timeout and none per
/// request.
struct ConnectionDeadline {
    /// The transferred bytes. Some waits last longer while the client transfers bytes at a minimum
    /// rate.
    struct Progress {
        /// Bytes that the client has not taken.
        var unsent = 0
        /// Bytes of bodies received since the connection began.
        var received = 0
    }

    private(set) var wait: ConnectionWait?
    /// When this wait began.
    private(set) var since = Instant(nanoseconds: 0)
    private var due: Instant?
    /// The progress and the time at the start of the present measurement.
    private var base = Progress()
    private var baseTime = Instant(nanoseconds: 0)
    /// Until then, a client that has read at the minimum rate is not measured again.
    private var readsUntil: Instant?
    /// The number of successive probes of the client.
    private var probes = 0
    /// Of a wait for a body.
    private var bodyRate: BodyRate?
    var timer: Timer?

    /// Sets the present wait. Does nothing if it is unchanged.
    mutating func update(
        _ wait: ConnectionWait?, _ timeouts: ConnectionTimeouts, _ progress: Progress,
        now: Instant
    ) {
        guard wait != self.wait else { return }
        self.wait = wait
        since = now
        readsUntil = nil
        set(timeouts, progress, now: now)
    }

    /// Sets the deadline of the next probe of the client; the interval doubles each time. Does
    /// nothing before the present deadline.
    mutating func prolongProbe(_ timeouts: ConnectionTimeouts, now: Instant) {
        guard let due, due <= now else { return }
        probes = min(probes + 1, 6)
        set(timeouts, Progress(), now: now)
    }

    private mutating func set(_ timeouts: ConnectionTimeouts, _ progress: Progress, now: Instant) {
        // The number of probes makes only the wait for the next probe longer.
        if wait != .probe { probes = 0 }
        base = progress
        baseTime = now
        due = wait.map { now.adding(timeouts[$0] << Int64(probes)) }
        bodyRate = wait == .body ? BodyRate(progress.received) : nil
    }

    /// When a timer must be set; nil if the present one fires early enough, or there is no wait.
    var timerNeeded: Instant? {
        guard let due else { return nil }
        if let armed = timer?.due, armed <= due { return nil }
        return due
    }

    /// Whether the deadline has passed. A client that makes progress at the minimum rate gets more
    /// time: one that reads, as long as it reads; one that sends a body, up to `body_timeout`.
    mutating func hasPassed(
        _ timeouts: ConnectionTimeouts, _ progress: @autoclosure () -> Progress, now: Instant
    ) -> Bool {
        guard let due, due <= now else { return false }
        let progress = progress()
        switch wait {
        case .output:
            let taken = base.unsent - progress.unsent
            guard taken >= timeouts.outputBytesMin else { return true }
            set(timeouts, progress, now: now)
            self.due = now.adding(timeouts.output(after: taken))
        case .body:
            guard let checks = bodyRate?.check(progress.received, timeouts.bodyBytesMin),
                now < since.adding(timeouts.bodyMax)
            else { return true }
            self.due = since.adding(timeouts.bodyCheck(checks))
        case .request, .firstRequest, .head, .probe, .linger, .briefLinger, nil:
            return true
        }
        return self.due.map { $0 <= now } ?? false
    }

    /// Whether the client reads its unsent output at the minimum rate or faster. Each measurement
    /// lasts for `timeouts.readWindow`, so that what it read earlier does not count.
    mutating func reads(
        _ progress: @autoclosure () -> Progress, _ timeouts: ConnectionTimeouts, now: Instant
    ) -> Bool {
        if let readsUntil, now < readsUntil { return true }
        let progress = progress()
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

/// What a connection waits for, each with its own time limit.
enum ConnectionWait: Equatable {
    case firstRequest, request, head, body
    /// The next check whether the client still exists.
    case probe
    case output, linger, briefLinger
}

/// The timeout of each wait, in nanoseconds, computed once per server.
struct ConnectionTimeouts {
    private let request, head, probe, output, linger, briefLinger: Int64
    /// The time limit of a body.
    let bodyMax: Int64
    private let bodyGrace: Int64
    /// The bytes of a body that must arrive in its grace time, and in each later time of this length.
    let bodyBytesMin: Int
    private let outputRate: Int64
    /// The period for measuring whether a client reads.
    let readWindow: Int64

    init(_ settings: ServerSettings) {
        let limits = settings.limits
        request = limits.idleTimeout.inNanoseconds
        head = limits.headerTimeout.inNanoseconds
        bodyMax = limits.bodyTimeout.inNanoseconds
        probe = settings.probeInterval.inNanoseconds
        output = limits.writeTimeout.inNanoseconds
        linger = settings.lingerTimeout.inNanoseconds
        readWindow = settings.unreadGrace.inNanoseconds
        briefLinger = settings.settleTime.inNanoseconds
        bodyGrace = limits.bodyGrace.inNanoseconds
        bodyBytesMin = Self.bytes(in: bodyGrace, at: Int64(limits.bodyBytesPerSecond))
        outputRate = Int64(max(1, limits.outputBytesPerSecond))
    }

    /// The timeout at the beginning of a wait.
    subscript(wait: ConnectionWait) -> Int64 {
        switch wait {
        case .request: request
        case .firstRequest, .head: head
        case .body: bodyCheck(0)
        case .probe: probe
        case .output: output
        case .linger: linger
        case .briefLinger: briefLinger
        }
    }

    /// When a body is looked at next, after so many times, from the beginning of the wait.
    func bodyCheck(_ number: Int) -> Int64 {
        min(bodyMax, bodyGrace / Int64(BodyRate.steps) * Int64(number + 1))
    }

    /// When a client that took so many bytes must have taken the next ones. A kernel acknowledges what is
    /// read in steps of up to 64 KiB, so that a slow reader may seem to take nothing for some time.
    func output(after taken: Int) -> Int64 {
        let (time, overflow) = Int64(max(0, taken)).multipliedReportingOverflow(by: 1_000_000_000)
        let most = min(output << 2, Self.outputStepMax)
        return max(output, min(most, overflow ? most : time / outputRate))
    }

    /// 30 s: a client that reads 2 KiB a second takes about as long for the longest step.
    private static let outputStepMax: Int64 = 30_000_000_000

    /// The bytes that a client must take in one `write_timeout`.
    var outputBytesMin: Int { outputBytes(in: output) }

    /// The bytes that a client must take in so many nanoseconds.
    func outputBytes(in time: Int64) -> Int { max(1, Self.bytes(in: time, at: outputRate)) }

    /// - Parameter rate: in bytes per second
    private static func bytes(in time: Int64, at rate: Int64) -> Int {
        let (bytes, overflow) = max(0, time / 1_000_000).multipliedReportingOverflow(by: rate)
        return overflow ? .max : Int(bytes / 1000)
    }
}

extension Instant {
    /// So many nanoseconds later; saturates.
    fileprivate func adding(_ time: Int64) -> Instant {
        Instant(nanoseconds: nanoseconds.addingSaturated(time))
    }
}

extension Int64 {
    /// The sum; saturates.
    fileprivate func addingSaturated(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
