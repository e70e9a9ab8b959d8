package import Reactor
import SimReactor
import TestSupport

/// A GET with a `Host`, a known request id, and more lines.
package func get(_ target: String = "/x", _ lines: String...) -> String {
    request("GET", target, lines)
}

/// A request with a body.
package func post(_ body: String, to target: String = "/x", _ lines: String...) -> String {
    request("POST", target, lines + ["Content-Length: \(body.utf8.count)"]) + body
}

package func request(_ method: String, _ target: String, _ lines: [String] = []) -> String {
    (["\(method) \(target) HTTP/1.1", "Host: gateway"] + lines).joined(separator: "\r\n")
        + "\r\n\r\n"
}

/// A client that sends a request and reads the response only when the test says so.
package final class ScriptedPeerThatWaits {
    private let peer: ScriptedPeer

    package init(_ stream: any ByteStream) {
        stream.pauseReading()
        peer = ScriptedPeer(stream)
    }

    package func send(_ text: String) { peer.send(text) }
    package func read() { peer.stream.resumeReading() }
    package func close() { peer.stream.close() }
}
