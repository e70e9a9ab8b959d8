import Basics
import Reactor
import Rehearsal
import SimReactor

/// A simulated client of endpoints with `proxy`: it sends bodies in pieces, reads as its script says,
/// and leaves when the script says so.
final class StreamClient: ByteStreamDelegate {
    let script: StreamConnection
    private unowned let cluster: Cluster
    private let loop: SimLoop
    private(set) var stream: CountedStream?
    private(set) var exchanges: [StreamExchange] = []
    /// Name of the worker that accepted the connection.
    private(set) var worker: String?
    /// When it was connected, and when its handshake was complete.
    private(set) var connected: Instant?
    private(set) var secured: Instant?
    private(set) var isDone = false
    /// When the client itself closed the connection, or its own direction of it.
    private(set) var disconnected: Instant?
    private(set) var halfClosed: Instant?
    private(set) var wasReset = false
    private(set) var endSeen: Instant?
    private(set) var neverConnected = false
    private(set) var hasUnsolicited = false
    private var decoder = MessageDecoder(.responses)

    /// In milliseconds: for `100 Continue`; and for the end of a connection that is not read.
    private static let continuePatience = 2500
    private static let closingPatience = 4000
    /// Longer than any exchange may take with the drawn limits.
    private static let exchangeLimit = 30_000

    init(_ script: StreamConnection, on loop: SimLoop, of cluster: Cluster) {
        self.script = script
        self.loop = loop
        self.cluster = cluster
    }

    private var current: StreamExchange? { exchanges.last }

    /// Connects at the scripted time.
    func scheduleConnect(to address: SocketAddress) {
        loop.connect(to: address, after: .microseconds(script.start)) { [self] stream in
            guard let stream else {
                neverConnected = true
                isDone = true
                return
            }
            self.stream = CountedStream(stream)
            worker = stream.peerName
            connected = loop.now
            stream.startReading(for: self)
            startHandshake(on: stream)
        }
    }

    private func startHandshake(on stream: SimStream) {
        guard let hello = script.hello else { return sendNext() }
        stream.beginHandshake(hello) { [weak self] in
            guard let self, !isDone else { return }
            secured = loop.now
            sendNext()
        }
        // The gateway ends a handshake that takes too long.
        later(Self.closingPatience) { client in
            if client.secured == nil { client.disconnect() }
        }
    }

    // MARK: Sending

    private func sendNext() {
        guard !isDone else { return }
        guard halfClosed == nil, exchanges.count < script.requests.count else {
            return disconnect()
        }
        let next = script.requests[exchanges.count]
        later(next.request.pause) { $0.send(next.request, next.script) }
    }

    private func send(_ request: ScriptedRequest, _ script: StreamScript) {
        guard let stream else { return }
        let reader = BodyReader(
            script.reading, StreamContent(number: request.number, direction: .download),
            of: stream.stream, loop)
        let exchange = StreamExchange(
            request, script, index: exchanges.count, start: stream.written, began: loop.now,
            reader: reader)
        exchanges.append(exchange)
        cluster.streamBegins(request)
        decoder.isResponseToHead = request.method == "HEAD"
        stream.write(request.bytes)
        reader.pauseIfScripted()
        if reader.hasStopped { later(Self.closingPatience) { $0.disconnect() } }
        later(Self.exchangeLimit) { $0.endOverdue(exchange) }
        if exchange.isAwaitingContinue {
            later(Self.continuePatience) { $0.startUpload(exchange, after: 0) }
        } else {
            startUpload(exchange, after: script.uploadDelay)
        }
        if case .after(let milliseconds)? = script.leaving?.when {
            later(milliseconds) { $0.leave(exchange) }
        }
    }

    private func startUpload(_ exchange: StreamExchange, after milliseconds: Int) {
        exchange.isAwaitingContinue = false
        guard let stream, exchange.script.upload.framing != .none, exchange.sender == nil,
            exchange.completed == nil, halfClosed == nil
        else { return }
        let sender = BodySender(
            exchange.script.upload,
            StreamContent(number: exchange.request.number, direction: .upload), on: stream, loop
        ) { [weak self, unowned exchange] ending in self?.uploadEnded(exchange, ending) }
        exchange.sender = sender
        sender.start(after: milliseconds)
    }

    private func uploadEnded(_ exchange: StreamExchange, _ ending: BodyScript.Ending) {
        exchange.end = stream?.written
        switch ending {
        case .complete, .malformed: break
        case .ends: halfClosed = halfClosed ?? loop.now
        case .resets: left(isReset: true)
        // Nothing more is sent; without a response the gateway has to end it.
        case .stalls: break
        }
        continueIfOver(exchange)
    }

    private func later(_ milliseconds: Int, _ action: @escaping (StreamClient) -> Void) {
        loop.timer(after: .milliseconds(milliseconds)) { [self] in
            if !isDone { action(self) }
        }
    }

    /// Every exchange ends, by a limit of the gateway if nothing else ends it.
    private func endOverdue(_ exchange: StreamExchange) {
        guard exchange.completed == nil else { return }
        cluster.recordViolation(.streams, exchange.request.mark, "the exchange never ends")
        disconnect()
    }

    // MARK: The end

    private func leave(_ exchange: StreamExchange) {
        guard exchange === current, exchange.completed == nil, let leaving = exchange.script.leaving
        else { return }
        switch leaving.kind {
        case .closes: disconnect()
        case .resets: disconnect(byForce: true)
        case .halfCloses:
            guard halfClosed == nil else { return }
            exchange.sender?.cancel()
            exchange.tunnelSender?.cancel()
            exchange.end = stream?.written
            halfClosed = loop.now
            stream?.stream.finishWriting()
        }
    }

    /// Closes the connection, or resets it.
    func disconnect(byForce: Bool = false) {
        guard !isDone, let stream else { return }
        if byForce { stream.stream.reset() } else { stream.stream.close() }
        left(isReset: byForce)
    }

    private func left(isReset: Bool) {
        disconnected = loop.now
        wasReset = isReset
        finish()
    }

    private func finish() {
        isDone = true
        for exchange in exchanges {
            exchange.sender?.cancel()
            exchange.tunnelSender?.cancel()
            exchange.reader.isOver = true
        }
    }

    /// Begins the next exchange if the present one is over in both directions.
    private func continueIfOver(_ exchange: StreamExchange) {
        guard !isDone, exchange.completed != nil else { return }
        let closes = exchange.response?["Connection"] == "close"
        if exchange.reader.hasStopped { return }
        if closes || exchange.isAwaitingContinue {
            exchange.sender?.cancel()
            exchange.end = exchange.end ?? stream?.written
            // The gateway ends the connection.
            return later(Self.closingPatience) { $0.disconnect() }
        }
        guard exchange.hasSentAll || halfClosed != nil else { return }
        if exchange.isSentWhole {
            sendNext()
        } else {
            later(Self.closingPatience) { $0.disconnect() }
        }
    }

    // MARK: Reading

    func streamReceived(_ bytes: Span<UInt8>) {
        var received: [UInt8] = []
        received.append(copying: bytes)
        decoder.receive(received) { event, position in handle(event, position) }
        if let reader = current?.reader, reader.hasStopped {
            later(Self.closingPatience) { $0.disconnect() }
        }
    }

    private func handle(_ event: MessageDecoder.Event, _ position: Int) {
        guard let exchange = current, exchange.completed == nil else {
            if case .head(let message) = event { recordUnsolicited(message) }
            return
        }
        switch event {
        case .interim(let message):
            exchange.interim.append(message)
            if message.status == 100 { startUpload(exchange, after: 0) }
        case .head(let message):
            exchange.response = message
            exchange.responseStart = position - message.length
            exchange.responseBody = position
            if message.status == 101 { startTunnel(exchange) }
        case .body(let bytes):
            if exchange.isProxied { exchange.reader.receive(bytes) } else { exchange.text += bytes }
            if case .receiving(let count)? = exchange.script.leaving?.when,
                exchange.reader.received >= count
            {
                leave(exchange)
            }
        case .end(let trailers):
            exchange.reader.complete(trailers)
            exchange.responseEnd = position
            exchange.completed = loop.now
            continueIfOver(exchange)
        case .broken(let why):
            cluster.recordViolation(
                .peers, exchange.request.mark, "the gateway sent a malformed response: \(why)")
        }
    }

    /// A response without a request in progress: too many connections, or a connection that is idle.
    private func recordUnsolicited(_ message: PeerMessage) {
        hasUnsolicited = true
        if message["Connection"] != "close" {
            cluster.recordViolation(
                .responses, current?.request.mark,
                "one more response than requests: \(message.startLine)")
        }
    }

    private func startTunnel(_ exchange: StreamExchange) {
        guard let stream, halfClosed == nil else { return }
        let sender = BodySender(
            exchange.script.tunnel,
            StreamContent(number: exchange.request.number, direction: .upload), on: stream, loop
        ) { [weak self] ending in self?.tunnelEnded(ending) }
        exchange.tunnelSender = sender
        sender.start()
    }

    private func tunnelEnded(_ ending: BodyScript.Ending) {
        switch ending {
        case .complete, .ends: halfClosed = halfClosed ?? loop.now
        case .resets: left(isReset: true)
        case .stalls, .malformed: break
        }
        if endSeen != nil, !isDone {
            finish()
            stream?.stream.close()
        }
    }

    func streamEnded() {
        endSeen = endSeen ?? loop.now
        if decoder.endsWithConnection, let exchange = current, exchange.completed == nil {
            exchange.reader.complete([])
            // In a tunnel the other direction continues.
            if let sender = exchange.tunnelSender, !sender.isOver {
                return later(Self.closingPatience) { $0.disconnect() }
            }
        }
        finish()
        stream?.stream.close()
    }

    func streamBlocked() {}

    func streamDrained() {
        current?.sender?.resume()
        current?.tunnelSender?.resume()
    }

    func streamFailed(_ failure: IOFailure) {
        endSeen = endSeen ?? loop.now
        finish()
    }

    /// Releases the connection, after the run was recorded.
    func releaseStream() { stream = nil }
}

extension StreamExchange {
    /// Whether a backend made the response, and not the gateway.
    var isProxied: Bool {
        response?[StreamResponseDraw.originHeader] != nil || response?.status == 101
    }
}
