import Basics
package import Reactor

/// A simulated listening socket, with the kernel's queue of connections.
package final class SimListener: Listener {
    package let address: SocketAddress
    let isShared: Bool
    let loop: SimLoop
    private var accept: ((any ByteStream) -> Void)?
    private var waiting: [SimStream] = []
    private var isPaused = false
    private var accepting: Timer?

    /// Set while descriptors are short.
    private var shortageTimer: Timer?

    /// The delay of a real listener.
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

    /// Whether connections can reach the listener.
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
        // The connection at the ceiling is the last one, as in a real loop.
        while let stream = takeFirst() {
            let isAtCeiling = loop.openDescriptors > loop.descriptors.acceptCeiling
            accept(stream)
            if isAtCeiling { break }
        }
        while let stream = takeFirst() { stream.close() }
    }

    /// A connection arrived: both of its pipes exist, and it waits for `accept`.
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
        // The stream counts now. At the ceiling it is the last one for a while, as in a real loop.
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

    /// Leaves connections in the queue for a moment, repeatedly while descriptors are short.
    private func suspendAccepting() {
        shortageTimer = loop.network.clock.after(Self.shortageRetryDelay) { [weak self] in
            guard let self else { return }
            shortageTimer = nil
            if hasFreeDescriptor { acceptSoon() } else { suspendAccepting() }
        }
    }

    /// Closes the listener and its queued connections at the loop's end.
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

/// An object that the network finds but does not own, because releasing it must close it.
struct WeakReference<Object: AnyObject> {
    private(set) weak var object: Object?
    init(_ object: Object) { self.object = object }
}
