import Basics
import HTTP
import HTTP2
import Reactor

/// Timeouts of a connection of HTTP/2, and its use by the server.
extension H2ServerConnection: ServedConnection {
    var exchanges: [Exchange] { requests.compactMap(\.exchange) }

    func forEachRunner(_ action: (ExchangeRunner) -> Void) {
        for request in requests {
            if let runner = request.runner, runner.isRequest { action(runner) }
        }
    }

    func leaveIdle(_ reason: LeaveReason) {
        switch reason {
        case .drainRequested: requests.isEmpty ? completeDrain() : announceDrain()
        case .evicted: closeIdle()
        }
    }

    /// Frees the place of an idle connection at once. The server has found that it was idle for so
    /// long that a reset cannot destroy a response.
    private func closeIdle() {
        guard requests.isEmpty else { return completeDrain() }
        session.shutDown()
        session.writePending(atMost: Self.unsentBytesMax, at: server.loop.now)
        close()
    }

    func closeUnread() { closeSlow() }

    /// Its session.
    var holdsMemory: Bool { true }

    func hasWaited(_ duration: Duration, now: Instant) -> Bool {
        now - (blockedSince ?? deadline.since) >= duration
    }

    func readsOutput(now: Instant) -> Bool {
        deadline.reads(progress(of: .output), server.timeouts, now: now)
    }

    // MARK: Timeouts

    /// What the connection itself waits for; each stream has a time limit of its own for its body.
    private var wait: ConnectionWait? {
        switch state {
        case .closed: return nil
        case .finishing: return .output
        case .lingering: return .linger
        case .open, .announced, .leaving:
            if stream.unsentBytes > 0 { return .output }
            if session.isInHeaderBlock { return .head }
            guard requests.isEmpty else { return nil }
            return hadRequest ? .request : .firstRequest
        }
    }

    func updateDeadline() {
        guard !isClosed else { return }
        updateActivity()
        let wait = wait
        guard wait != deadline.wait else { return }
        let now = server.loop.now
        deadline.update(wait, server.timeouts, progress(of: wait), now: now)
        armTimer(now)
    }

    /// A client that does not open its windows is like one that does not read: when memory is short,
    /// its connection may be closed.
    private func updateActivity() {
        let isBlocked =
            isServing && session.queuedBytes > 0 && stream.unsentBytes == 0 && !session.wantsWrite
        blockedSince = isBlocked ? blockedSince ?? server.loop.now : nil
        let former = activity
        activity = isBlocked ? .unread : wait?.activity ?? .busy
        if activity != former { table.updateActivity(at: slot, from: former, to: activity) }
    }

    private func progress(of wait: ConnectionWait?) -> ConnectionDeadline.Progress {
        guard wait == .output else { return ConnectionDeadline.Progress() }
        return ConnectionDeadline.Progress(unsent: stream.pendingBytes &- writtenBytes)
    }

    private func armTimer(_ now: Instant) {
        guard let due = deadline.timerNeeded else { return }
        deadline.timer?.cancel()
        // Not weak, as in `ServerConnection.armTimer`.
        deadline.timer = server.loop.timer(after: due - now) { [unowned self] in timerFired() }
    }

    private func timerFired() {
        let (wait, now) = (deadline.wait, server.loop.now)
        if deadline.hasPassed(server.timeouts, progress(of: wait), now: now) { deadlinePassed() }
        if !isClosed { armTimer(now) }
    }

    private func deadlinePassed() {
        switch deadline.wait {
        case .request, .firstRequest: completeDrain()
        case .head:
            server.losses.count(.tooSlow)
            session.terminate(.enhanceYourCalm)
            outputChanged()
        case .output: closeSlow()
        case .linger, .briefLinger, .body, .probe: close()
        case nil: break
        }
    }
}
