import Basics
import HTTP
import Promises
import Reactor
import SimReactor

/// A backend on a simulated network that does what a test tells it. It understands just enough of
/// HTTP to know when a request is complete.
final class ScriptedBackend {
    /// One request as it came.
    struct Asked {
        let peer: ScriptedPeer
        fileprivate let loop: SimLoop
        /// Which connection, counted from 1.
        let connection: Int
        /// Which request on that connection, counted from 1.
        let turn: Int
        let path: String
        let text: String

        func answer(_ body: String) {
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
        }

        func after(_ delay: Duration, _ action: @escaping () -> Void) {
            loop.timer(after: delay, action)
        }
    }

    /// What it does with a request.
    var script: (Asked) -> Void

    /// What turns a connection into the one that is spoken on; nil for plain ones.
    var secure: ((any ByteStream) -> Local<any ByteStream>)?

    /// What it does with a connection, before any request.
    var onAccept: (ScriptedPeer) -> Void = { _ in }

    private(set) var peers: [ScriptedPeer] = []
    /// `connection.turn path` of every request, in the order of arrival.
    private(set) var log: [String] = []
    private let loop: SimLoop
    private var listener: (any Listener)?

    init(on loop: SimLoop, at address: SocketAddress, _ script: @escaping (Asked) -> Void) throws {
        self.script = script
        self.loop = loop
        listener = try loop.listen(on: address, sharedPort: false) { [weak self] stream in
            guard let secure = self?.secure else {
                self?.accept(stream)
                return
            }
            secure(stream).whenSettled { [weak self] result in
                if case .success(let stream) = result { self?.accept(stream) }
            }
        }
    }

    /// How many connections there were.
    var connections: Int { peers.count }

    /// Stops listening, and lets go of all connections.
    func close() {
        listener?.close()
        listener = nil
        for peer in peers { peer.stream.close() }
    }

    private func accept(_ stream: any ByteStream) {
        let peer = ScriptedPeer(stream)
        peers.append(peer)
        let connection = peers.count
        var turn = 0
        peer.onReceived = { [weak self, loop] peer in
            guard let path = Self.path(ofComplete: peer.text) else { return }
            let text = peer.text
            peer.forget()
            turn += 1
            self?.log.append("\(connection).\(turn) \(path)")
            self?.script(
                Asked(
                    peer: peer, loop: loop, connection: connection, turn: turn, path: path,
                    text: text))
        }
        peer.onEnded = { peer in peer.stream.close() }
        onAccept(peer)
    }

    /// The path of a request that is complete.
    private static func path(ofComplete text: String) -> String? {
        var reader = RequestReader(limits: Limits())
        var position = 0
        let bytes = Bytes(text)
        var path: String?
        while let event = try? reader.read(bytes.span, from: &position) {
            switch event {
            case .needsMore: return nil
            case .head(let head): path = String(head.target.path)
            case .body, .trailers: break
            case .complete: return path
            }
        }
        return nil
    }
}
