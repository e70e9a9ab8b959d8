/// A queue of messages to one receiver on another thread.
///
/// Three conform: `UVInbox` (libuv's async handle wakes the loop), `SimInbox` (virtual time), and
/// the daemon's `LogWriter`, whose thread has no loop. The owner of an inbox creates it before the
/// thread of its receiver starts, so that messages can be posted at any time.
///
/// - Messages of one thread are received in the order in which it posted them. Messages of different
///   threads are received in any order.
/// - A message is never received inside of `post`, not even on the receiver's own thread. Each
///   message is a callback of its own: the promise jobs that it makes ready run before the next
///   message.
/// - Messages that are posted before the receiver's loop exists are stored for it.
package protocol MessageInbox<Message>: AnyObject, Sendable {
    associatedtype Message: Sendable

    /// Queues a message and returns at once; may be called on every thread.
    ///
    /// - Returns: false if the message will never be received, because the receiver has ended or its
    ///   loop cannot be woken. True does not guarantee delivery: the receiver may end before.
    @discardableResult
    func post(_ message: Message) -> Bool
}

/// Receives the messages of an inbox. Confined to the thread of its loop; the inbox owns it from
/// `open` to `close`.
package protocol MessageReceiver<Message>: AnyObject {
    associatedtype Message: Sendable

    /// Called on the loop's thread, once for each message.
    func receive(_ message: Message)
}
