import Basics
import HTTP
import Reactor

/// When the patience of a connection ends. One timer serves all it ever waits for: it is set anew
/// only when something is due earlier than it, so a kept connection makes one per idle time and
/// none per request.
struct ConnectionDeadline {
    private(set) var wait: ServerStateMachine.Wait?
    private var due: Instant?
    /// What waited to be sent when the output began to be waited for.
    private var unsent = 0
    /// How often in a row the client was asked whether it is still there.
    private var probes = 0
    var timer: Timer?

    /// Notes what is waited for from now on. Nothing changes if it is the same as before.
    mutating func update(
        _ wait: ServerStateMachine.Wait?, _ patience: Patience, unsent: Int, now: Instant
    ) {
        guard wait != self.wait else { return }
        self.wait = wait
        set(patience, unsent: unsent, now: now)
    }

    /// Waits once more for the same, longer each time.
    mutating func prolongProbe(_ patience: Patience, now: Instant) {
        probes = min(probes + 1, 6)
        set(patience, unsent: 0, now: now)
    }

    private mutating func set(_ patience: Patience, unsent: Int, now: Instant) {
        // Only the question whether the client is there is asked less and less often.
        if wait != .client { probes = 0 }
        self.unsent = unsent
        due = wait.map { Instant(nanoseconds: now.nanoseconds &+ patience[$0] << Int64(probes)) }
    }

    /// When a timer must be set; nil where one is that fires early enough, or nothing is waited for.
    var timerNeeded: Instant? {
        guard let due else { return nil }
        if let armed = timer?.due, armed <= due { return nil }
        return due
    }

    /// Whether patience has ended. A client that took some of what waits to be sent gets more time.
    mutating func hasPassed(_ patience: Patience, unsent: Int, now: Instant) -> Bool {
        guard let due, due <= now else { return false }
        guard wait == .output, unsent < self.unsent else { return true }
        set(patience, unsent: unsent, now: now)
        return false
    }

    mutating func cancel() {
        timer?.cancel()
        timer = nil
        due = nil
    }
}

/// How long each thing is waited for, in nanoseconds, computed once per server.
struct Patience {
    private let request, head, body, client, output, linger: Int64

    init(_ settings: ServerSettings) {
        request = settings.limits.idleTimeout.inNanoseconds
        head = settings.limits.headerTimeout.inNanoseconds
        body = settings.limits.bodyTimeout.inNanoseconds
        client = settings.probeInterval.inNanoseconds
        output = settings.limits.writeTimeout.inNanoseconds
        linger = settings.lingerTimeout.inNanoseconds
    }

    subscript(wait: ServerStateMachine.Wait) -> Int64 {
        switch wait {
        case .request: request
        case .head: head
        case .body: body
        case .client: client
        case .output: output
        case .linger: linger
        }
    }
}
