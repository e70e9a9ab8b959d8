import Basics

/// Bounds the handshakes that begin in one loop iteration: the private-key operation of each takes
/// hundreds of microseconds, in which the worker serves nothing else. The others wait in order.
///
/// Owned by a server and confined to its loop's thread.
package final class HandshakeQueue {
    /// At most 0.7 ms with ECDSA keys of 256 bits, 1.5 ms with RSA keys of 2048 bits.
    package static let beginsPerIteration = 4

    private let loop: any Loop
    /// Handshakes that began in the iteration of `latestBegin`.
    private var begun = 0
    /// The clock is constant during an iteration.
    private var latestBegin: Instant?
    /// At most as many as `limits.handshakes` permits.
    private var waiting: [() -> Void] = []
    private var timer: Timer?
    private var isContinuing = false

    package init(_ loop: any Loop) {
        self.loop = loop
    }

    deinit { timer?.cancel() }

    /// Whether a handshake may begin now.
    package var mayBegin: Bool {
        isContinuing || (waiting.isEmpty && begunNow < Self.beginsPerIteration)
    }

    /// Calls `continuing` in a later iteration, for a handshake that may not begin now. It may find that
    /// the connection is closed.
    package func wait(_ continuing: @escaping () -> Void) {
        waiting.append(continuing)
        awaitNextIteration()
    }

    /// A handshake has begun: the server's part of the work was done.
    package func recordBegin() {
        begun = begunNow + 1
        latestBegin = loop.now
    }

    /// Handshakes that began in this iteration.
    private var begunNow: Int { latestBegin == loop.now ? begun : 0 }

    private func awaitNextIteration() {
        guard timer == nil else { return }
        timer = loop.timer(after: .zero) { [weak self] in self?.beginIteration() }
    }

    private func beginIteration() {
        timer = nil
        latestBegin = nil
        isContinuing = true
        var first = 0
        while begunNow < Self.beginsPerIteration, first < waiting.count {
            waiting[first]()
            first += 1
        }
        isContinuing = false
        waiting.removeFirst(first)
        if !waiting.isEmpty { awaitNextIteration() }
    }
}
