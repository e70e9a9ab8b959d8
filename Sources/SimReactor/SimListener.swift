import Basics
package import Reactor

/// A simulated listening socket, with the kernel's queue of connections not yet accepted.
package final class SimListener: Listener {
    package let address: SocketAddress
    let isShared: Bool
    private let loop: SimLoop
    private var accept: ((any ByteStream) -> Void)?
    private var waiting: [SimStream] = []
    private var isPaused = false
    private var accepting: Timer?

    init(
        on loop: SimLoop, address: SocketAddress, isShared: Bool,
        accept: @escaping (any ByteStream) -> Void
    ) {
        self.loop = loop
        self.address = address
        self.isShared = isShared
        self.accept = accept
        loop.network.listeners.append(Known(self))
        loop.openListeners += 1
    }

    deinit { release() }

    /// True while connections reach it.
    var isOpen: Bool { accept != nil }

    var isFull: Bool { waiting.count >= loop.network.settings.backlogMax }

    package func pause() {
        isPaused = true
        accepting.take()?.cancel()
    }

    package func resume() {
        isPaused = false
        acceptSoon()
    }

    package func close() {
        guard let accept = release() else { return }
        while !waiting.isEmpty { accept(waiting.removeFirst()) }
    }

    /// A connection's first packet came: its two pipes exist, and it waits for `accept`.
    func arrived(incoming: SimPipe, outgoing: SimPipe, peer: SocketAddress?) {
        waiting.append(SimStream(on: loop, incoming: incoming, outgoing: outgoing, peer: peer))
        acceptSoon()
    }

    private func acceptSoon() {
        guard isOpen, !isPaused, accepting == nil, !waiting.isEmpty else { return }
        accepting = loop.network.clock.after(.zero) { [weak self] in
            guard let self else { return }
            accepting = nil
            loop.perform { self.acceptNext() }
        }
    }

    private func acceptNext() {
        guard let accept, !waiting.isEmpty else { return }
        let stream = waiting.removeFirst()
        acceptSoon()
        accept(stream)
    }

    @discardableResult
    private func release() -> ((any ByteStream) -> Void)? {
        guard let accept = accept.take() else { return nil }
        accepting.take()?.cancel()
        loop.network.listeners.removeAll { $0.object == nil || $0.object === self }
        loop.openListeners -= 1
        return accept
    }
}

/// Something that the network knows and does not hold, for dropping it ends it.
struct Known<Object: AnyObject> {
    private(set) weak var object: Object?
    init(_ object: Object) { self.object = object }
}
