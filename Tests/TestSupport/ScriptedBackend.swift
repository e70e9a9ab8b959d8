import Basics
package import Promises
package import Reactor
package import SimReactor

/// One host on a simulated network: it responds as its script says and records received requests.
/// The test owns it.
package final class ScriptedBackend {
    /// Called with each complete request.
    package var script: (BackendExchange) -> Void

    /// Called with each connection, before any request.
    package var onAccept: (ScriptedPeer) -> Void = { _ in }

    /// A connection ended while this request had no response.
    package var onAbandoned: (ReceivedRequest) -> Void = { _ in }

    /// Performs the TLS handshake on an accepted stream; nil for plain connections.
    package var secure: ((any ByteStream) -> LocalPromise<any ByteStream>)?

    /// The number of TLS handshakes that began, whatever their results.
    package private(set) var handshakes = 0

    /// `connection.turn path` of every request, in the order of arrival.
    package private(set) var log: [String] = []

    package let loop: SimLoop
    private let port: UInt16
    private let began: Instant
    private var listener: (any Listener)?
    private var all: [Connection] = []

    package init(
        on loop: SimLoop, at address: SocketAddress, _ script: @escaping (BackendExchange) -> Void
    ) throws {
        self.script = script
        self.loop = loop
        port = if case .ip(_, let port) = address { port } else { 0 }
        began = loop.now
        listener = try loop.listen(on: address, sharedPort: false) { [weak self] in
            self?.connectionArrived($0)
        }
    }

    /// The backend's ends of all connections, in the order of arrival.
    package var peers: [ScriptedPeer] { all.map(\.peer) }

    /// The number of connections so far.
    package var connections: Int { all.count }

    /// The number of open connections.
    package var openCount: Int { all.count { !$0.isOver } }

    /// Stops listening; open connections stay.
    package func refuse() {
        listener?.close()
        listener = nil
    }

    /// Stops listening and closes all connections.
    package func close() {
        refuse()
        for connection in all { connection.peer.stream.close() }
    }

    /// Closes the idle connections.
    package func closeIdle() {
        for connection in all where connection.pending == nil { connection.peer.stream.close() }
    }

    private func connectionArrived(_ stream: any ByteStream) {
        guard let secure else { return accept(stream) }
        handshakes += 1
        secure(stream).whenSettled { [weak self] result in
            if case .success(let stream) = result { self?.accept(stream) }
        }
    }

    private func accept(_ stream: any ByteStream) {
        let connection = Connection(ScriptedPeer(stream), all.count + 1)
        all.append(connection)
        let peer = connection.peer
        peer.onReceived = { [weak self, unowned connection] _ in self?.received(connection) }
        peer.onEnded = { [weak self, unowned connection] _ in self?.ended(connection) }
        peer.onFailed = { [weak self, unowned connection] _ in self?.ended(connection) }
        onAccept(peer)
    }

    private func received(_ connection: Connection) {
        let request = ReceivedRequest(
            connection.peer.text,
            from: ReceivedRequest.Origin(
                ms: (loop.now - began).inMilliseconds, port: port, connection: connection.number,
                turn: connection.turn + 1))
        guard let request else { return }
        connection.peer.clearReceived()
        connection.turn += 1
        connection.pending = request
        log.append("\(request.connection).\(request.turn) \(request.path)")
        script(BackendExchange(request: request, source: connection, loop: loop))
    }

    private func ended(_ connection: Connection) {
        if let request = connection.pending { onAbandoned(request) }
        connection.pending = nil
        connection.isOver = true
        connection.peer.stream.close()
    }

    final class Connection {
        let peer: ScriptedPeer
        let number: Int
        var turn = 0
        /// The request that has no response yet.
        var pending: ReceivedRequest?
        var isOver = false

        init(_ peer: ScriptedPeer, _ number: Int) {
            self.peer = peer
            self.number = number
        }
    }
}

/// One request at a scripted backend, and the ways to respond to it.
package struct BackendExchange {
    package let request: ReceivedRequest
    let source: ScriptedBackend.Connection
    let loop: SimLoop

    package var peer: ScriptedPeer { source.peer }
    package var connection: Int { request.connection }
    package var turn: Int { request.turn }
    package var path: String { request.path }

    /// Sends 200 with a body, at once.
    package func respond(_ body: String) {
        source.pending = nil
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
    }

    /// Runs an action on the backend's loop after a delay.
    package func after(_ delay: Duration, _ action: @escaping () -> Void) {
        loop.timer(after: delay, action)
    }

    /// Sends a reply, unless the connection ends before. A response is sent in an event of its own,
    /// even with a delay of zero.
    package func perform(_ reply: Reply) {
        guard reply.text != nil || reply.ending != .stays else { return }
        after(.milliseconds(reply.after)) { [unowned source] in
            guard !source.isOver, source.pending != nil else { return }
            source.pending = nil
            if let text = reply.text { source.peer.send(text) }
            switch reply.ending {
            case .stays: break
            case .closes: source.peer.stream.close()
            case .resets: (source.peer.stream as? SimStream)?.reset()
            }
        }
    }
}
