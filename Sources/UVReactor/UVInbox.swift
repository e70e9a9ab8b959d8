import Promises
package import Reactor

/// The inbox of a receiver on a libuv loop. The first of several messages wakes the loop; one
/// callback then delivers all.
///
/// Unchecked, because: a lock guards `state`; `receiver` and `loop` are used only on the loop's
/// thread, except by `close` if they were never set.
package final class UVInbox<Message: Sendable>: MessageInbox, @unchecked Sendable {
    private enum Phase {
        /// Messages are stored until the loop opens the inbox.
        case unopened
        case open(UVContext)
        case closed
    }

    private struct State {
        var phase = Phase.unopened
        var messages: [Message] = []
        /// Whether the loop was notified of messages.
        var isAnnounced = false
    }

    private let state = Guarded(State())
    private var receiver: (any MessageReceiver<Message>)?
    private var loop: UVLoop?

    package init() {}

    // MARK: On any thread

    @discardableResult
    package func post(_ message: Message) -> Bool {
        state.withLock { state in
            switch state.phase {
            case .closed: return false
            case .unopened: break
            case .open(let context):
                if !state.isAnnounced { state.isAnnounced = context.announce(self) }
                guard state.isAnnounced else { return false }
            }
            state.messages.append(message)
            return true
        }
    }

    // MARK: On the loop's thread

    /// Starts delivery to `receiver`, in later callbacks; the loop's end closes the inbox. Called
    /// once.
    package func open(on loop: UVLoop, for receiver: any MessageReceiver<Message>) {
        self.receiver = receiver
        self.loop = loop
        loop.inboxes.append(self)
        state.withLock { state in
            guard case .unopened = state.phase else { return }
            state.phase = .open(loop.context)
            // If the loop cannot be woken, the next message tries again.
            if !state.messages.isEmpty { state.isAnnounced = loop.context.announce(self) }
        }
    }

    /// Refuses further messages, drops stored ones and releases the receiver. An inbox that was
    /// never opened may be closed on any thread.
    package func close() {
        // Returned, so that they are released outside of the lock.
        _ = state.withLock { state in
            state.phase = .closed
            defer { state.messages = [] }
            return state.messages
        }
        if let loop { loop.inboxes.removeAll { $0 === self } }
        loop = nil
        receiver = nil
    }
}

extension UVInbox: AnnouncedInbox {
    func deliver() {
        let messages = state.withLock { state in
            state.isAnnounced = false
            defer { state.messages = [] }
            return state.messages
        }
        for message in messages {
            // An earlier message may have closed the inbox.
            guard let receiver, let loop else { return }
            receiver.receive(message)
            loop.finishCallback()
        }
    }
}

/// An inbox with any message type, as its loop uses it.
protocol AnnouncedInbox: AnyObject, Sendable {
    /// Delivers the stored messages to the receiver.
    func deliver()

    func close()
}
