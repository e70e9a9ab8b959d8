import Basics
package import HTTP
package import HTTP2
package import Promises
package import Reactor
package import SimReactor

/// One host on a simulated network that uses HTTP/2: it responds as its script says and records what
/// it receives. The test owns it.
package final class ScriptedH2Backend {
    /// Called with the head of each request.
    package var script: (H2BackendExchange) -> Void

    /// Called with each connection, before any request.
    package var onAccept: (H2BackendConnection) -> Void = { _ in }

    /// Performs the TLS handshake on an accepted stream; nil for plain connections.
    package var secure: ((any ByteStream) -> LocalPromise<any ByteStream>)?

    /// The settings of its connections.
    package var limits = H2Limits()

    /// `connection path` of every request, in the order of arrival.
    package fileprivate(set) var log: [String] = []
    /// In the order of arrival.
    package private(set) var connections: [H2BackendConnection] = []

    package let loop: SimLoop
    private var listener: (any Listener)?

    package init(
        on loop: SimLoop, at address: SocketAddress, _ script: @escaping (H2BackendExchange) -> Void
    ) throws {
        self.script = script
        self.loop = loop
        listener = try loop.listen(on: address, sharedPort: false) { [weak self] in
            self?.connectionArrived($0)
        }
    }

    /// The number of open connections.
    package var openCount: Int { connections.count { !$0.isOver } }

    /// Stops listening and closes all connections.
    package func close() {
        listener?.close()
        listener = nil
        for connection in connections { connection.peer.stream.close() }
    }

    private func connectionArrived(_ stream: any ByteStream) {
        guard let secure else { return accept(stream) }
        secure(stream).whenSettled { [weak self] result in
            if case .success(let stream) = result { self?.accept(stream) }
        }
    }

    private func accept(_ stream: any ByteStream) {
        guard let side = try? H2Side(.server, limits) else { return stream.close() }
        let connection = H2BackendConnection(stream, side, of: self, connections.count + 1)
        connections.append(connection)
        onAccept(connection)
        connection.flush()
    }
}

/// One connection of a scripted backend.
package final class H2BackendConnection {
    package let peer: ScriptedPeer
    package let side: H2Side
    package let number: Int
    /// It neither interprets nor sends anything: a host that is frozen.
    package var isFrozen = false
    /// What has arrived in one piece, each time: the number of its frames.
    package private(set) var arrivals: [Int] = []
    /// Frames of the client, without its preface.
    package private(set) var frames: [H2Frame] = []
    package private(set) var isOver = false
    private var unparsed: [UInt8] = []
    private var hasReadPreface = false
    private unowned let backend: ScriptedH2Backend

    fileprivate init(
        _ stream: any ByteStream, _ side: H2Side, of backend: ScriptedH2Backend, _ number: Int
    ) {
        peer = ScriptedPeer(stream)
        self.side = side
        self.backend = backend
        self.number = number
        peer.onReceived = { [unowned self] _ in received() }
        peer.onEnded = { [unowned self] _ in end() }
        peer.onFailed = { [unowned self] _ in end() }
        side.onRequest = { [unowned self] recorder in
            guard let request = recorder.request else { return }
            backend.log.append("\(number) \(request.target)")
            backend.script(H2BackendExchange(connection: self, recorder: recorder))
        }
    }

    /// Sends what the session has to send.
    package func flush() {
        guard !isOver, !isFrozen else { return }
        side.write(at: Int64(backend.loop.now.nanoseconds / 1_000_000))
        send(side.takeWritten())
    }

    /// Sends frames that the session knows nothing of.
    package func send(_ frames: H2Frames) { send(frames.bytes) }

    package func send(_ bytes: [UInt8]) {
        if !bytes.isEmpty { peer.stream.write(bytes.span) }
    }

    /// The received frames of a kind.
    package func count(_ kind: H2Frames.Kind) -> Int { frames.count { $0.isKind(kind) } }

    private func received() {
        let bytes = peer.received
        peer.clearReceived()
        record(bytes)
        guard !isFrozen else { return }
        side.receive(bytes, at: Int64(backend.loop.now.nanoseconds / 1_000_000))
        flush()
    }

    private func record(_ bytes: [UInt8]) {
        unparsed += bytes
        if !hasReadPreface, unparsed.count >= H2Frames.preface.count {
            unparsed.removeFirst(H2Frames.preface.count)
            hasReadPreface = true
        }
        guard hasReadPreface else { return }
        let (parsed, rest) = H2Frame.all(in: unparsed)
        unparsed = unparsed.suffix(rest)
        frames += parsed
        arrivals.append(parsed.count)
    }

    private func end() {
        isOver = true
        peer.stream.close()
    }
}

/// One request at a scripted backend, and the ways to respond to it.
package struct H2BackendExchange {
    package let connection: H2BackendConnection
    package let recorder: H2Recorder

    package var path: String { recorder.request.map { "\($0.target)" } ?? "" }
    package var id: UInt32 { UInt32(recorder.stream?.id ?? 0) }

    /// Sends 200 with a body. Behind the present event, `flush` of the connection is needed.
    package func respond(_ body: String, _ fields: Fields = Fields()) {
        recorder.respond(.ok, fields, body: body)
    }

    /// Resets the stream.
    package func reset(_ code: H2Code) {
        guard let stream = recorder.stream else { return }
        connection.side.session.reset(stream, code)
    }
}
