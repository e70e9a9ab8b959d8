import Basics
import HTTP
import Promises
import Reactor
import SimReactor
import TLS

/// A request as a backend saw it.
struct Seen {
    /// Since the stage began.
    let ms: Double
    let port: UInt16
    /// Counted from 1, for each backend.
    let connection: Int
    let method: String
    let target: String
    let body: String
    private let fields: Fields

    init(_ ms: Double, _ port: UInt16, _ connection: Int, _ head: RequestHead, _ body: String) {
        self.ms = ms
        self.port = port
        self.connection = connection
        method = "\(head.method)"
        target = "\(head.target)"
        fields = head.fields
        self.body = body
    }

    /// The values of a header line, joined by ` | `; nil without one.
    subscript(name: String) -> String? {
        guard let name = FieldName(name) else { return nil }
        let values = fields.all(name).map { "\($0)" }
        return values.isEmpty ? nil : values.joined(separator: " | ")
    }

    /// The names of all lines, in order.
    var names: [String] { fields.map { String($0.name) } }
}

/// One host: answers as the stage's script says, and writes down what happens.
final class ScriptedBackend {
    private let port: UInt16
    private unowned let stage: Stage
    private var listener: (any Listener)?
    private var connections: [Connection] = []
    private var security: TLSServerContext?
    /// Connections that began with TLS, however that went.
    private(set) var handshakes = 0

    init(at port: UInt16, of stage: Stage) throws {
        self.port = port
        self.stage = stage
        listener = try stage.outside.listen(
            on: .ip(.v4(0x7F00_0001), port: port), sharedPort: false
        ) { [unowned self] in arrived($0) }
    }

    /// Connections that were ever made.
    var connectionCount: Int { connections.count }

    /// Connections that are open.
    var openCount: Int { connections.count { !$0.isOver } }

    /// Stops listening; connections stay.
    func refuse() {
        listener?.close()
        listener = nil
    }

    /// Lets go of everything.
    func close() {
        refuse()
        for connection in connections { connection.peer.stream.close() }
    }

    /// Closes the connections that wait for a request.
    func closeIdle() {
        for connection in connections where connection.asked == nil {
            connection.peer.stream.close()
        }
    }

    /// From now on it speaks TLS.
    func secure(_ context: TLSServerContext) { security = context }

    private func arrived(_ stream: any ByteStream) {
        guard let security else { return accept(stream) }
        handshakes += 1
        security.accept(stream, on: stage.outside).whenSettled { [weak self] result in
            if case .success(let stream) = result { self?.accept(stream) }
        }
    }

    private func accept(_ stream: any ByteStream) {
        let connection = Connection(ScriptedPeer(stream), connections.count + 1)
        connections.append(connection)
        connection.peer.onReceived = { [unowned self, unowned connection] _ in received(connection)
        }
        connection.peer.onEnded = { [unowned self, unowned connection] _ in left(connection) }
        connection.peer.onFailed = { [unowned self, unowned connection] _ in left(connection) }
    }

    private func received(_ connection: Connection) {
        guard let (head, body) = connection.request() else { return }
        let seen = Seen(stage.ms, port, connection.number, head, body)
        connection.peer.forget()
        connection.asked = seen.target
        stage.saw(seen)
        let reply = stage.reply(to: seen.target)
        guard reply.text != nil || reply.ending != .stays else { return }
        // A moment later at least: an answer comes in an event of its own.
        stage.outside.timer(after: .milliseconds(reply.after)) { [unowned connection] in
            connection.perform(reply)
        }
    }

    private func left(_ connection: Connection) {
        if let target = connection.asked { stage.note("given up \(target)") }
        connection.asked = nil
        connection.isOver = true
        connection.peer.stream.close()
    }

    private final class Connection {
        let peer: ScriptedPeer
        let number: Int
        /// The target of the request that has no answer yet.
        var asked: String?
        var isOver = false

        init(_ peer: ScriptedPeer, _ number: Int) {
            self.peer = peer
            self.number = number
        }

        /// What was read, if it is a whole request.
        func request() -> (RequestHead, String)? {
            var reader = RequestReader(limits: Limits())
            var position = 0
            let bytes = Bytes(peer.text)
            var head: RequestHead?
            var body = ""
            while let event = try? reader.read(bytes.span, from: &position) {
                switch event {
                case .needsMore: return nil
                case .head(let complete): head = complete
                case .body(let range): body += String(decoding: bytes.array[range], as: UTF8.self)
                case .trailers: break
                case .complete: return head.map { ($0, body) }
                }
            }
            return nil
        }

        func perform(_ reply: Reply) {
            guard !isOver, asked != nil else { return }
            asked = nil
            if let text = reply.text { peer.send(text) }
            switch reply.ending {
            case .stays: break
            case .closes: peer.stream.close()
            case .resets: (peer.stream as? SimStream)?.reset()
            }
        }
    }
}
