import Basics
package import Reactor

/// The inbox of a receiver on a simulated loop. Each message takes a random time. Messages of
/// different threads may therefore overtake each other; messages of one thread do not.
///
/// A simulated thread is a loop: the sender of a message is the loop whose event runs.
///
/// Unchecked: a simulation runs on one thread.
package final class SimInbox<Message: Sendable>: MessageInbox, @unchecked Sendable {
    /// Weak, since the clock holds messages in transit.
    private weak let network: SimNetwork?
    /// Identifies the inbox in the trace.
    private let number: Int
    private weak var loop: SimLoop?
    private var receiver: (any MessageReceiver<Message>)?
    private var isClosed = false

    /// Messages that have arrived and were not received yet.
    private var arrived: [Message] = []
    /// When the last message of each thread arrives; later ones do not arrive before it.
    private var lastArrivals: [Int: Instant] = [:]

    package init(on network: SimNetwork) {
        self.network = network
        number = network.nextInbox()
    }

    @discardableResult
    package func post(_ message: Message) -> Bool {
        guard !isClosed, let network else { return false }
        let earliest = lastArrivals[network.runningThread] ?? network.clock.now
        let arrival = max(earliest, network.clock.now + network.messageLatency())
        lastArrivals[network.runningThread] = arrival
        network.clock.at(arrival) { [self] in arrive(message) }
        return true
    }

    private func arrive(_ message: Message) {
        guard !isClosed else { return }
        if let network { network.trace?.recordMessage(in: number, at: network.clock.now) }
        arrived.append(message)
        deliver()
    }

    /// Starts delivery to `receiver`, in later events; the end of `loop` closes the inbox. Called
    /// once.
    package func open(on loop: SimLoop, for receiver: any MessageReceiver<Message>) {
        open(on: loop, for: receiver, isOfLoop: false)
    }

    /// - Parameter isOfLoop: the inbox belongs to the loop itself, so it is not a leftover
    func open(on loop: SimLoop, for receiver: any MessageReceiver<Message>, isOfLoop: Bool) {
        guard !isClosed, let network else { return }
        self.loop = loop
        self.receiver = receiver
        loop.register(self, isOfLoop: isOfLoop)
        network.clock.after(.zero) { [weak self] in self?.deliver() }
    }

    private func deliver() {
        while let loop, let receiver, !arrived.isEmpty {
            let message = arrived.removeFirst()
            loop.perform { receiver.receive(message) }
        }
    }

    /// Refuses all further messages, drops those in transit, and releases the receiver.
    package func close() {
        isClosed = true
        arrived = []
        receiver = nil
        loop.take()?.unregister(self)
    }
}

/// An inbox with any message type, as its loop uses it.
protocol OpenInbox: AnyObject {
    func close()
}

extension SimInbox: OpenInbox {}
