import Basics
package import Reactor

/// The inbox of a receiver on a simulated loop. A message takes a time that the network's seed draws;
/// so messages of different threads may overtake each other, and those of one thread do not.
///
/// A simulated thread is a loop: the one whose event runs has posted the message.
///
/// Unchecked: a simulation runs on one thread.
package final class SimInbox<Message: Sendable>: MessageInbox, @unchecked Sendable {
    /// Not held, since the clock keeps what is under way.
    private weak let network: SimNetwork?
    /// Names the inbox in the trace.
    private let number: Int
    private weak var loop: SimLoop?
    private var receiver: (any MessageReceiver<Message>)?
    private var isClosed = false

    /// Messages that have arrived and are not received yet.
    private var arrived: [Message] = []
    /// When the last message of each thread arrives: the next one does not arrive before.
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

    /// Begins to deliver to `receiver`, in later events; the end of `loop` closes the inbox. Called
    /// once.
    package func open(on loop: SimLoop, for receiver: any MessageReceiver<Message>) {
        open(on: loop, for: receiver, isOfLoop: false)
    }

    /// - Parameter isOfLoop: the loop itself has the inbox, so it is no leftover
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

/// An inbox of whatever messages, as its loop knows it.
protocol OpenInbox: AnyObject {
    func close()
}

extension SimInbox: OpenInbox {}
