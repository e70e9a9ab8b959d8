import Basics
import Reactor
import Rehearsal
import SimReactor

/// A simulated client: its connection, and how it ended. Subclasses send the requests.
class PeerClient: ByteStreamDelegate {
    let number: Int
    /// Microseconds since the run began.
    let start: Int
    let loop: SimLoop
    unowned let cluster: Cluster
    private(set) var stream: SimStream?
    /// Name of the worker that accepted the connection.
    private(set) var worker: String?
    /// When it was connected.
    private(set) var connected: Instant?
    private(set) var isDone = false
    /// When the client itself closed the connection, or its own direction of it.
    private(set) var disconnected: Instant?
    var halfClosed: Instant?
    /// When the client noticed that the gateway had ended the connection.
    private(set) var endSeen: Instant?
    private(set) var neverConnected = false
    /// The gateway sent a response while no request was in progress.
    var hasUnsolicited = false

    init(_ number: Int, start: Int, on loop: SimLoop, of cluster: Cluster) {
        self.number = number
        self.start = start
        self.loop = loop
        self.cluster = cluster
    }

    /// The requests that it began to send.
    var requestRecords: [RequestRecord] { [] }

    /// Connects at the scripted time.
    func scheduleConnect(to address: SocketAddress) {
        loop.connect(to: address, after: .microseconds(start)) { [self] stream in
            guard let stream else {
                neverConnected = true
                isDone = true
                return
            }
            self.stream = stream
            worker = stream.peerName
            connected = loop.now
            startConnection(stream)
        }
    }

    func startConnection(_ stream: SimStream) {}

    func later(_ milliseconds: Int, _ action: @escaping () -> Void) {
        loop.timer(after: .milliseconds(milliseconds)) { [self] in
            if !isDone { action() }
        }
    }

    /// Closes the connection, or resets it.
    func disconnect(byForce: Bool = false) {
        guard !isDone, let stream else { return }
        if byForce { stream.reset() } else { stream.close() }
        left()
    }

    /// The client has ended the connection.
    func left() {
        disconnected = loop.now
        finish()
    }

    /// Nothing more happens on the connection.
    func finish() { isDone = true }

    // MARK: Events of the stream

    func receive(_ bytes: [UInt8]) {}

    func streamReceived(_ bytes: Span<UInt8>) {
        var received: [UInt8] = []
        received.append(copying: bytes)
        receive(received)
    }

    func streamEnded() {
        endSeen = endSeen ?? loop.now
        close()
    }

    /// Closes a connection that the gateway has ended.
    func close() {
        finish()
        stream?.close()
    }

    func streamBlocked() {}

    func streamDrained() {}

    func streamFailed(_ failure: IOFailure) {
        endSeen = endSeen ?? loop.now
        finish()
    }

    /// Releases the connection, after the run was recorded.
    func releaseStream() { stream = nil }
}

extension ClientRecord {
    init(_ client: PeerClient) {
        self.init(
            number: client.number, start: client.start, worker: client.worker,
            sent: client.requestRecords, disconnected: client.disconnected,
            halfClosed: client.halfClosed, endSeen: client.endSeen,
            gatewayClosed: client.stream?.incomingJournal.closed,
            neverConnected: client.neverConnected, hasUnsolicited: client.hasUnsolicited,
            handshake: (client as? StreamClient).flatMap(HandshakeRecord.init))
    }
}
