import Basics
import HTTP
import Reactor

/// Memory, timeouts and the end of a connection.
extension ServerConnection: ServedConnection {
    var exchanges: [Exchange] {
        var exchanges: [Exchange] = []
        forEachRunner { exchanges.append($0.exchange) }
        return exchanges
    }

    func forEachRunner(_ action: (ExchangeRunner) -> Void) {
        if let runner, runner.isRequest { action(runner) }
        if let unsent = unsentExchange?.runner, unsent.isRequest { action(unsent) }
    }

    // MARK: Waiting for the client

    var now: Instant { server.loop.now }

    var silence: ClientSilence? {
        switch wait {
        case .head, .body: ClientSilence(since: pace.heardAt, isBetweenRequests: false)
        case .firstRequest, .output, .linger, .briefLinger:
            ClientSilence(since: deadline.since, isBetweenRequests: false)
        case .request: ClientSilence(since: deadline.since, isBetweenRequests: true)
        case .probe, nil: nil
        }
    }

    func clientWait(now: Instant) -> ClientWait? {
        // `closeUnread` ends connections whose bytes are short.
        if wait == .output {
            return readsOutput(now: now)
                ? nil : ClientWait(since: deadline.since, holdsBytes: false)
        }
        guard isRunning else { return nil }
        return runner?.requestBody?.awaitedSince(
            rate: server.settings.limits.bodyBytesPerSecond, now: now
        ).map { ClientWait(since: $0, holdsBytes: false) }
    }

    func endWaiting() {
        wait == .output ? deadlinePassed() : handle(.rejected(.overloaded(nil)))
    }

    func close() {
        handle(.clientLost)
    }

    func closeUnread() {
        deadlinePassed()
    }

    func leaveIdle(_ reason: LeaveReason) {
        let isSettled = hasWaited(server.settings.settleTime, now: server.loop.now)
        switch reason {
        case .drainRequested: handle(.drainRequested(isSettled: isSettled))
        case .evicted: handle(.evicted(isSettled: isSettled))
        }
    }

    func hasWaited(_ duration: Duration, now: Instant) -> Bool {
        now - deadline.since >= duration
    }

    var holdsMemory: Bool { counts.memory > 0 || stream.heldBytes > 0 }

    func readsOutput(now: Instant) -> Bool {
        deadline.reads(progress(of: .output), server.timeouts, now: now)
    }

    // MARK: Memory

    /// Reports the present memory use to the budget.
    ///
    /// - Parameter unsent: the unsent bytes, if they may have changed
    func updateBudget(unsent: Int? = nil) {
        guard !isClosed else { return }
        if let unsent { counts.unsent = unsent }
        let held = ahead.memoryBytes + reader.memoryBytes + counts.unsent
        let before = counts.memory
        assert(
            counts.unsent >= 0 && held >= counts.unsent,
            "a connection holds less than it sends")
        guard held != before else { return }
        counts.memory = held
        server.budget.adjust(by: held - before)
    }

    /// If the budget is exhausted, rejects an incomplete head, since many of them may be an attack, and
    /// a request whose body arrives faster than the service takes it.
    func shedIfExhausted() {
        guard server.budget.isExhausted, wait == .head || holdsBody else { return }
        // Freeing memory may have closed this connection.
        guard !server.budget.hasRoom(), !isClosed else { return }
        server.losses.count(.bufferedBytes)
        // For a response that is cut off.
        if bodyWriter != nil { runner?.exchange.streamEnd = .memoryLimit }
        handle(.rejected(.overloaded(.bufferedBytes)))
    }

    private var holdsBody: Bool { isBodyPaused && !ahead.isEmpty }

    // MARK: Timeouts

    func updateDeadline() {
        let wait = wait
        let former = deadline.wait
        guard wait != former else { return }
        let now = server.loop.now
        deadline.update(wait, server.timeouts, progress(of: wait), now: now)
        table.updateActivity(
            at: slot, from: former?.activity ?? .busy, to: wait?.activity ?? .busy)
        armTimer(now)
    }

    private func progress(of wait: ConnectionWait?) -> ConnectionDeadline.Progress {
        guard wait == .output else {
            return ConnectionDeadline.Progress(received: counts.received)
        }
        return ConnectionDeadline.Progress(unsent: pendingBytes &- counts.pieces)
    }

    func armTimer(_ now: Instant) {
        guard let due = deadline.timerNeeded else { return }
        deadline.timer?.cancel()
        // Not weak, which would make every retain of this object slower; `deinit` cancels the timer.
        deadline.timer = server.loop.timer(after: due - now) { [unowned self] in
            timerFired()
        }
    }

    private func deadlinePassed() {
        if wait == .output {
            forEachRunner { $0.exchange.streamEnded(.clientTooSlow) }
        }
        handle(.deadlinePassed)
    }

    private func timerFired() {
        let now = server.loop.now
        if deadline.hasPassed(server.timeouts, progress(of: wait), now: now) {
            deadlinePassed()
        }
        armTimer(now)
    }
}
