import Basics
import Reactor
import SimReactor

@testable import RESP

/// A store on a simulated network: it replies to commands as its script says, and records them.
final class ScriptedStore {
    /// The reply to a command; nil for none. PING, AUTH and SELECT succeed without it.
    var script: ([String]) -> String? = { _ in "+OK\r\n" }
    /// Sent on every new connection, before a command.
    var greeting: String?
    /// Whether PING, AUTH, SELECT and the trial are replied to by the script, too.
    var scriptsFirstCommands = false

    /// `connection: command` of every command, in the order of arrival.
    private(set) var log: [String] = []
    /// The commands of each read.
    private(set) var reads: [Int] = []
    private(set) var connections: [ScriptedPeer] = []
    private var listener: (any Listener)?
    private let loop: SimLoop
    private let address: SocketAddress

    init(on loop: SimLoop, at address: SocketAddress) throws {
        self.loop = loop
        self.address = address
        try listen()
    }

    /// The replies to the first commands of a connection.
    static let firstReplies = [
        "PING": "+PONG\r\n", "AUTH": "+OK\r\n", "SELECT": "+OK\r\n", "TRIAL": ":1\r\n",
    ]

    func listen() throws {
        listener = try loop.listen(on: address, sharedPort: false) { [weak self] stream in
            self?.accept(stream)
        }
    }

    /// Stops listening and closes all connections, as a killed process does.
    func kill() {
        listener?.close()
        listener = nil
        for peer in connections { peer.stream.close() }
    }

    func clearLog() {
        log = []
        reads = []
    }

    /// Sends bytes on the newest connection.
    func send(_ text: String) { connections.last?.send(text) }

    private func accept(_ stream: any ByteStream) {
        let peer = ScriptedPeer(stream)
        connections.append(peer)
        let number = connections.count
        var reader = RESPReader(limits: RESPLimits())
        if let greeting { peer.send(greeting) }
        peer.onReceived = { [unowned self] peer in
            var position = 0
            let bytes = peer.received
            peer.clearReceived()
            var count = 0
            while let value = try? reader.read(bytes.span, from: &position) {
                count += 1
                handle(value, number, peer)
            }
            reads.append(count)
        }
        peer.onEnded = { $0.stream.close() }
    }

    private func handle(_ value: RESPValue, _ number: Int, _ peer: ScriptedPeer) {
        guard case .array(let arguments) = value else { return }
        let words = arguments.map { if case .bulk(let text) = $0 { String(text) } else { "?" } }
        log.append("\(number): \(words.joined(separator: " "))")
        if !scriptsFirstCommands, let reply = Self.firstReplies[words[0]] {
            return peer.send(reply)
        }
        if let reply = script(words) { peer.send(reply) }
    }
}
