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
    private var relief: Timer?

    /// As long as a real listener waits.
    private static let reliefDelay = Duration.milliseconds(100)

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

    deinit {
        release()
        loop.waitingStreams -= waiting.count
    }

    /// True while connections reach it.
    var isOpen: Bool { accept != nil }

    var isFull: Bool { waiting.count >= loop.network.settings.backlogMax }

    package func pause() {
        isPaused = true
        accepting.take()?.cancel()
        relief.take()?.cancel()
    }

    package func resume() {
        isPaused = false
        acceptSoon()
    }

    package func close() {
        guard let accept = release() else { return }
        // The one at the ceiling is the last one, as in a real loop.
        while let stream = takeFirst() {
            let isAtCeiling = loop.openDescriptors > loop.descriptors.acceptCeiling
            accept(stream)
            if isAtCeiling { break }
        }
        while let stream = takeFirst() { stream.close() }
    }

    /// A connection's first packet came: its two pipes exist, and it waits for `accept`.
    func arrived(incoming: SimPipe, outgoing: SimPipe, peer: SocketAddress?) {
        waiting.append(SimStream(on: loop, incoming: incoming, outgoing: outgoing, peer: peer))
        loop.waitingStreams += 1
        acceptSoon()
    }

    private func acceptSoon() {
        guard isOpen, !isPaused, accepting == nil, relief == nil, !waiting.isEmpty else { return }
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
            rest()
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
    private func rest() {
        relief = loop.network.clock.after(Self.reliefDelay) { [weak self] in
            guard let self else { return }
            relief = nil
            if hasFreeDescriptor { acceptSoon() } else { rest() }
        }
    }

    /// Ends it with its loop: the connections that wait are closed.
    func abandon() {
        release()
        while let stream = takeFirst() { stream.close() }
    }

    @discardableResult
    private func release() -> ((any ByteStream) -> Void)? {
        guard let accept = accept.take() else { return nil }
        accepting.take()?.cancel()
        relief.take()?.cancel()
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
