import Basics
import HTTP2
import Reactor

/// How long a connection with calls has received nothing, and whether a PING tests it.
struct ConnectionSilence {
    private(set) var lastReceived: Instant
    /// When the first of its present calls began.
    private var waitsSince: Instant
    /// Of the next test, or of the end of the present one.
    var timer: Timer?
    /// A PING was sent that is not acknowledged.
    var isTesting = false

    init(at now: Instant) {
        lastReceived = now
        waitsSince = now
    }

    mutating func received(at now: Instant) { lastReceived = now }

    /// The first call of a connection without calls begins.
    mutating func waitBegan(at now: Instant) { waitsSince = now }

    /// When a test is due.
    func due(after limit: Duration) -> Instant { max(lastReceived, waitsSince) + limit }

    mutating func cancel() { timer.take()?.cancel() }
}

// A connection may be dead without an end: its host has failed, or the network. HTTP/2 would lose
// every call on it until their time is over.
extension H2ClientConnection {
    /// A call was given to the session.
    func callBegan() {
        if running == 1 { silence.waitBegan(at: loop.now) }
        armSilenceTimer()
    }

    /// The time of a call is over. An unfinished header block stops all streams, so that the
    /// acknowledgement cannot arrive either.
    func callTimedOut(begunAt began: Instant) {
        if silence.lastReceived <= began || session.isInHeaderBlock { beginTest() }
    }

    private func armSilenceTimer() {
        guard silence.timer == nil, running > 0, !silence.isTesting else { return }
        let due = silence.due(after: settings.pingAfter)
        silence.timer = loop.timer(after: due - loop.now) { [weak self] in
            self?.silenceTimerFired()
        }
    }

    private func silenceTimerFired() {
        silence.timer = nil
        // The next call arms it again.
        guard !isClosed, running > 0 else { return }
        guard silence.due(after: settings.pingAfter) <= loop.now else { return armSilenceTimer() }
        beginTest()
    }

    /// Sends a PING. The connection gets no call until it is acknowledged.
    private func beginTest() {
        guard !isClosed, !silence.isTesting else { return }
        silence.cancel()
        silence.isTesting = true
        silence.timer = loop.timer(after: settings.pingTimeout) { [weak self] in
            self?.testFailed()
        }
        session.sendPing()
        updateCapacity()
        outputChanged()
    }

    private func testFailed() {
        silence.timer = nil
        end(.noPong(Int(settings.pingTimeout.inNanoseconds / 1_000_000)))
    }

    /// A PING was acknowledged.
    func endTest() {
        guard silence.isTesting else { return }
        silence.cancel()
        silence.isTesting = false
        armSilenceTimer()
        updateCapacity()
    }
}
