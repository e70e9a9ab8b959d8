import Reactor
package import SimReactor

/// A client with one connection that speaks plain HTTP/1.1 and understands responses with a length.
package final class ScriptedClient {
    private let peer: ScriptedPeer
    private unowned let testbed: Testbed
    private var sentAt: Double
    private var asksHead = false
    private var parser = ResponseParser()

    package private(set) var answers: [ReceivedResponse] = []
    /// Interim responses, by their status.
    package private(set) var interim: [Int] = []

    package init(_ peer: ScriptedPeer, on testbed: Testbed) {
        self.peer = peer
        self.testbed = testbed
        sentAt = testbed.ms
        peer.onReceived = { [unowned self] _ in read() }
    }

    /// The other side ended the connection.
    package var isClosed: Bool { peer.hasEnded || !peer.failures.isEmpty }

    package func send(_ text: String) {
        sentAt = testbed.ms
        asksHead = text.hasPrefix("HEAD ")
        peer.send(text)
    }

    /// Closes the connection, as a browser whose window is closed.
    package func leave() { peer.stream.close() }

    /// Resets the connection.
    package func reset() { (peer.stream as? SimStream)?.reset() }

    /// Sends no more, and still reads.
    package func end() { peer.stream.finishWriting() }

    private func read() {
        parser.append(peer.received)
        peer.clearReceived()
        while let response = parser.next(toHead: asksHead, ms: testbed.ms - sentAt) {
            if response.status < 200 {
                interim.append(response.status)
            } else {
                answers.append(response)
            }
        }
    }
}
