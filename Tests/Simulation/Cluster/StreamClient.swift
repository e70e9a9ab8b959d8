import Basics
import Reactor
import Rehearsal
import SimReactor

/// A simulated client of endpoints with `proxy`: it sends bodies in pieces, reads as its script says,
/// and leaves when the script says so.
final class StreamClient: PeerClient {
    let script: StreamConnection
    private(set) var counted: CountedStream?
    private(set) var exchanges: [StreamExchange] = []
    /// When its handshake was complete.
    private(set) var secured: Instant?
    private var decoder = MessageDecoder(.responses)

    /// In milliseconds: for `100 Continue`; and for the end of a connection that is not read.
    private static let continuePatience = 2500
    private static let closingPatience = 4000
    /// Longer than any exchange may take with the drawn limits.
    private static let exchangeLimit = 30_000

    init(_ script: StreamConnection, on loop: SimLoop, of cluster: Cluster) {
        self.script = script
        super.init(script.number, start: script.start, on: loop, of: cluster)
    }

    override var requestRecords: [RequestRecord] { exchanges.map { RequestRecord($0, of: self) } }

    private var current: StreamExchange? { exchanges.last }

    override func startConnection(_ stream: SimStream) {
        counted = CountedStream(stream)
        stream.startReading(for: self)
        startHandshake(on: stream)
    }

    private func startHandshake(on stream: SimStream) {
        guard let hello = script.hello else { return sendNext() }
        stream.beginHandshake(hello) { [weak self] in
            guard let self, !isDone else { return }
            secured = loop.now
            sendNext()
        }
        // The gateway ends a handshake that takes too long.
        later(Self.closingPatience) {
            if self.secured == nil { self.disconnect() }
        }
    }

    // MARK: Sending

    private func sendNext() {
        guard !isDone else { return }
        guard halfClosed == nil, exchanges.count < script.requests.count else {
            return disconnect()
        }
        let next = script.requests[exchanges.count]
        later(next.request.pause) { self.send(next.request, next.script) }
    }

    private func send(_ request: ScriptedRequest, _ script: StreamScript) {
        guard let stream = counted else { return }
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
        if reader.hasStopped { later(Self.closingPatience) { self.disconnect() } }
        later(Self.exchangeLimit) { self.endOverdue(exchange) }
        if exchange.isAwaitingContinue {
            later(Self.continuePatience) { self.startUpload(exchange, after: 0) }
        } else {
            startUpload(exchange, after: script.uploadDelay)
        }
        if case .after(let milliseconds)? = script.leaving?.when {
            later(milliseconds) { self.leave(exchange) }
        }
    }

    private func startUpload(_ exchange: StreamExchange, after milliseconds: Int) {
        exchange.isAwaitingContinue = false
        guard let stream = counted, exchange.script.upload.framing != .none, exchange.sender == nil,
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
        exchange.end = counted?.written
        switch ending {
        case .complete, .malformed: break
        case .ends: halfClosed = halfClosed ?? loop.now
        case .resets: left()
        // Nothing more is sent; without a response the gateway has to end it.
        case .stalls: break
        }
        continueIfOver(exchange)
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
            exchange.end = counted?.written
            halfClosed = loop.now
            stream?.finishWriting()
        }
    }

    override func finish() {
        super.finish()
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
            exchange.end = exchange.end ?? counted?.written
            // The gateway ends the connection.
            return later(Self.closingPatience) { self.disconnect() }
        }
        guard exchange.hasSentAll || halfClosed != nil else { return }
        if exchange.isSentWhole {
            sendNext()
        } else {
            later(Self.closingPatience) { self.disconnect() }
        }
    }

    // MARK: Reading

    override func receive(_ bytes: [UInt8]) {
        decoder.receive(bytes) { event, position in handle(event, position) }
        if let reader = current?.reader, reader.hasStopped {
            later(Self.closingPatience) { self.disconnect() }
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
        guard let stream = counted, halfClosed == nil else { return }
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
        case .resets: left()
        case .stalls, .malformed: break
        }
        if endSeen != nil, !isDone { close() }
    }

    override func close() {
        if decoder.endsWithConnection, let exchange = current, exchange.completed == nil {
            exchange.reader.complete([])
            // In a tunnel the other direction continues.
            if let sender = exchange.tunnelSender, !sender.isOver {
                return later(Self.closingPatience) { self.disconnect() }
            }
        }
        super.close()
    }

    override func streamDrained() {
        current?.sender?.resume()
        current?.tunnelSender?.resume()
    }

    override func releaseStream() {
        super.releaseStream()
        counted = nil
    }
}

extension StreamExchange {
    /// Whether a backend made the response, and not the gateway.
    var isProxied: Bool {
        response?[StreamResponseDraw.originHeader] != nil || response?.status == 101
    }
}
