/// Which party the handshake of one client waits for, and when it may begin.
///
/// The server creates it and the handshake reports to it. Confined to the loop's thread.
package final class HandshakeProgress {
    package enum Party { case client, server }

    /// Decides when the handshake begins.
    package let queue: HandshakeQueue

    /// Called with every new wait; the first one, for the client's first message, is not reported.
    package var waitChanged: ((Party) -> Void)?

    package init(_ queue: HandshakeQueue) {
        self.queue = queue
    }

    /// A handshake that may not begin now; `continuing` is called in a later iteration. It may find that
    /// the connection is closed.
    package func awaitServer(_ continuing: @escaping () -> Void) {
        waitChanged?(.server)
        queue.wait { [self] in
            waitChanged?(.client)
            continuing()
        }
    }

    /// The server has sent its part of the handshake, or a part of it.
    ///
    /// Bytes of the client are no progress by themselves: they can arrive one by one.
    package func awaitClient() { waitChanged?(.client) }
}
