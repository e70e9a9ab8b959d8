import Basics
import HTTP
import Reactor

/// Keeps the TLS handshakes in progress within `ServerSettings.handshakes`. While the limit is reached,
/// further connections wait in the kernel's queue, and the handshake whose client has been silent for the
/// longest time ends after `ServerSettings.handshakeGrace`, so that silent clients keep no others out.
///
/// The server owns it. Confined to the loop's thread.
final class HandshakeLimit {
    private unowned let server: Server
    private(set) var inProgress = 0
    private(set) var isReached = false
    /// The slots of those that wait for their clients, the longest waiting one first.
    private var silent = SlotQueue()
    /// Ends the first of them.
    private var timer: Timer?
    private var isEnding = false

    init(of server: Server) {
        self.server = server
    }

    // MARK: Handshakes

    /// Another one begins, and waits for its client from now on.
    func add() {
        inProgress += 1
        update()
    }

    /// The one at a slot has ended.
    func remove(_ slot: Int) {
        silent.remove(slot)
        inProgress -= 1
        update()
    }

    /// The one at a slot waits for another party, or for the same one again.
    func changeWait(of slot: Int, to party: HandshakeProgress.Party) {
        silent.remove(slot)
        guard party == .client else { return }
        silent.append(slot)
        if isReached, timer == nil { endSilent() }
    }

    /// The connection at a slot has another slot now.
    func move(from source: Int, to target: Int) { silent.move(from: source, to: target) }

    // MARK: The limit

    /// After a change of the number of handshakes, or of the settings.
    func update() {
        let wasReached = isReached
        isReached = inProgress >= server.settings.handshakes
        if isReached != wasReached { server.setSecureListeners(paused: isReached) }
        timer.take()?.cancel()
        if isReached { endSilent() }
    }

    /// Ends the handshakes whose clients have been silent for too long, until the limit allows another one.
    private func endSilent() {
        // Each end updates the limit.
        guard !isEnding else { return }
        isEnding = true
        defer { isEnding = false }
        while isReached, let handshake = silent.first.flatMap(server.handshake) {
            let waited = server.loop.now - handshake.awaitsClientSince
            let grace = server.settings.handshakeGrace
            guard waited >= grace else { return endSilent(after: grace - waited) }
            server.losses.count(.idle)
            handshake.leaveIdle(.evicted)
        }
    }

    private func endSilent(after wait: Duration) {
        timer = server.loop.timer(after: wait) { [weak self] in
            self?.timer = nil
            self?.endSilent()
        }
    }
}
