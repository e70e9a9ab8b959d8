import Reactor
package import SimReactor

/// A client with one plain HTTP/1.1 connection that reads responses with a length.
package final class ScriptedClient {
    private let peer: ScriptedPeer
    private unowned let testbed: Testbed
    private var sentAt: Double
    private var expectsNoBody = false
    private var parser = ResponseParser()

    package private(set) var responses: [ReceivedResponse] = []
    /// The statuses of interim responses.
    package private(set) var interim: [Int] = []

    package init(_ peer: ScriptedPeer, on testbed: Testbed) {
        self.peer = peer
        self.testbed = testbed
        sentAt = testbed.ms
        peer.onReceived = { [unowned self] _ in read() }
    }

    /// Whether the server closed the connection.
    package var isClosed: Bool { peer.hasEnded || !peer.failures.isEmpty }

    package func send(_ text: String) {
        sentAt = testbed.ms
        expectsNoBody = text.hasPrefix("HEAD ")
        peer.send(text)
    }

    /// Closes the connection, like a browser whose window is closed.
    package func leave() { peer.stream.close() }

    /// Resets the connection.
    package func reset() { (peer.stream as? SimStream)?.reset() }

    /// Half-closes the connection, and still reads.
    package func end() { peer.stream.finishWriting() }

    private func read() {
        parser.append(peer.received)
        peer.clearReceived()
        while let response = parser.next(toHead: expectsNoBody, ms: testbed.ms - sentAt) {
            if response.status < 200 {
                interim.append(response.status)
            } else {
                responses.append(response)
            }
        }
    }
}
