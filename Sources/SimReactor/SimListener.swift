import Basics
package import Reactor

/// A simulated listening socket, with the kernel's queue of connections not yet accepted.
package final class SimListener: Listener {
    package let address: SocketAddress
    let isShared: Bool
    let loop: SimLoop
    private var accept: ((any ByteStream) -> Void)?
    private var waiting: [SimStream] = []
    private var isPaused = false
    private var accepting: Timer?

    /// Runs while descriptors are short.
    private var shortageTimer: Timer?

    /// As long as a real listener waits.
    private static let shortageRetryDelay = Duration.milliseconds(100)

    init(
        on loop: SimLoop, address: SocketAddress, isShared: Bool,
        accept: @escaping (any ByteStream) -> Void
    ) {
        self.loop = loop
        self.address = address
        self.isShared = isShared
        self.accept = accept
        loop.network.listeners.append(WeakReference(self))
        loop.openListeners += 1
    }

    deinit {
        unregister()
        loop.waitingStreams -= waiting.count
    }

    /// True while connections reach it.
    var isOpen: Bool { accept != nil }

    var isFull: Bool { waiting.count >= loop.network.settings.backlogMax }

    package func pause() {
        isPaused = true
        accepting.take()?.cancel()
        shortageTimer.take()?.cancel()
    }

    package func resume() {
        isPaused = false
        acceptSoon()
    }

    package func close() {
        guard let accept = unregister() else { return }
        // The one at the ceiling is the last one, as in a real loop.
        while let stream = takeFirst() {
            let isAtCeiling = loop.openDescriptors > loop.descriptors.acceptCeiling
            accept(stream)
            if isAtCeiling { break }
        }
        while let stream = takeFirst() { stream.close() }
    }

    /// A connection's first packet came: its two pipes exist, and it waits for `accept`.
    func connectionArrived(incoming: SimPipe, outgoing: SimPipe, peer: SocketAddress?) {
        waiting.append(SimStream(on: loop, incoming: incoming, outgoing: outgoing, peer: peer))
        loop.waitingStreams += 1
        acceptSoon()
    }

    private func acceptSoon() {
        guard isOpen, !isPaused, accepting == nil, shortageTimer == nil, !waiting.isEmpty else {
            return
        }
        accepting = loop.network.clock.after(.zero) { [weak self] in
            guard let self else { return }
            accepting = nil
            loop.perform { self.acceptNext() }
        }
    }

    private func acceptNext() {
        guard let accept, let stream = takeFirst() else { return }
        // The stream counts now: at the ceiling it is the last one for a while, as in a real loop.
        if loop.openDescriptors > loop.descriptors.acceptCeiling {
            loop.descriptors.reportShortage(.accept)
            suspendAccepting()
        } else {
            acceptSoon()
        }
        accept(stream)
    }

    private func takeFirst() -> SimStream? {
        guard !waiting.isEmpty else { return nil }
        loop.waitingStreams -= 1
        return waiting.removeFirst()
    }

    private var hasFreeDescriptor: Bool {
        loop.openDescriptors < loop.descriptors.acceptCeiling
    }

    /// Leaves the connections in the queue for a moment, and again while descriptors are short.
    private func suspendAccepting() {
        shortageTimer = loop.network.clock.after(Self.shortageRetryDelay) { [weak self] in
            guard let self else { return }
            shortageTimer = nil
            if hasFreeDescriptor { acceptSoon() } else { suspendAccepting() }
        }
    }

    /// Ends it with its loop: the connections that wait are closed.
    func abandon() {
        unregister()
        while let stream = takeFirst() { stream.close() }
    }

    @discardableResult
    private func unregister() -> ((any ByteStream) -> Void)? {
        guard let accept = accept.take() else { return nil }
        accepting.take()?.cancel()
        shortageTimer.take()?.cancel()
        loop.network.listeners.removeAll { $0.object == nil || $0.object === self }
        loop.openListeners -= 1
        return accept
    }
}

/// Something that the network knows and does not hold, for dropping it ends it.
struct WeakReference<Object: AnyObject> {
    private(set) weak var object: Object?
    init(_ object: Object) { self.object = object }
}
