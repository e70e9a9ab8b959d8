import Basics
import HTTP
import Reactor

/// The TLS handshakes in progress: their number, their pace and their outcomes.
///
/// Keeps them within `ServerSettings.handshakes`. While the limit is reached, further connections wait in
/// the kernel's queue, and the handshake whose client has been silent for the longest time ends after
/// `ServerSettings.handshakeGrace`, so that silent clients keep no others out.
///
/// The server and the connections in their handshakes hold it. Confined to the loop's thread.
final class Handshakes {
    private let server: ServerContext
    private let table: ConnectionTable
    private let listeners: Listeners
    /// Decides when handshakes begin.
    let queue: HandshakeQueue
    /// How handshakes ended.
    var counts = HandshakeCounts()
    private(set) var inProgress = 0
    private var isLimitReached = false
    /// Ends the longest silent handshake.
    private var timer: Timer?
    private var isEnding = false

    init(of server: ServerContext, in table: ConnectionTable, _ listeners: Listeners) {
        self.server = server
        self.table = table
        self.listeners = listeners
        queue = HandshakeQueue(server.loop)
    }

    // MARK: Handshakes

    /// Another one begins, and waits for its client from now on.
    func add() {
        inProgress += 1
        updateLimit()
    }

    /// The one at a slot has ended.
    func remove(_ slot: Int) {
        table.silentHandshakes.remove(slot)
        assert(inProgress > 0, "more handshakes ended than began")
        inProgress -= 1
        updateLimit()
    }

    /// The one at a slot waits for another party, or for the same one again.
    func changeWait(of slot: Int, to party: HandshakeProgress.Party) {
        table.silentHandshakes.remove(slot)
        guard party == .client else { return }
        table.silentHandshakes.append(slot)
        if isLimitReached, timer == nil { endSilent() }
    }

    // MARK: The limit

    /// After a change of the number of handshakes, or of the settings.
    func updateLimit() {
        let wasReached = isLimitReached
        isLimitReached = inProgress >= server.settings.handshakes
        if isLimitReached != wasReached { listeners.pauseSecure(isLimitReached) }
        timer.take()?.cancel()
        if isLimitReached { endSilent() }
    }

    /// Ends the handshakes whose clients have been silent for too long, until the limit allows another one.
    private func endSilent() {
        // Each end updates the limit.
        guard !isEnding else { return }
        isEnding = true
        defer { isEnding = false }
        while isLimitReached, let handshake = longestSilent {
            let waited = server.loop.now - handshake.awaitsClientSince
            let grace = server.settings.handshakeGrace
            guard waited >= grace else { return endSilent(after: grace - waited) }
            server.losses.count(.idle)
            handshake.leaveIdle(.evicted)
        }
    }

    private var longestSilent: HandshakingConnection? {
        table.silentHandshakes.first.flatMap { table.connections[$0] as? HandshakingConnection }
    }

    private func endSilent(after wait: Duration) {
        timer = server.loop.timer(after: wait) { [weak self] in
            self?.timer = nil
            self?.endSilent()
        }
    }
}
