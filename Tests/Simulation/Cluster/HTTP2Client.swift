import Basics
import Reactor
import Rehearsal
import SimReactor

/// A simulated client with HTTP/2 and prior knowledge: it sends the requests of its script, several at
/// once, and records the responses.
final class HTTP2Client: ByteStreamDelegate {
    let script: ScriptedConnection
    private let framing: FramingScript
    private unowned let cluster: Cluster
    private let loop: SimLoop
    private(set) var stream: SimStream?
    private var frames: HTTP2PeerConnection?
    private(set) var sent: [HTTP2ClientExchange] = []
    /// Name of the worker that accepted the connection.
    private(set) var worker: String?

    private(set) var isDone = false
    /// When the client itself closed the connection, or its own direction of it.
    private(set) var disconnected: Instant?
    private(set) var halfClosed: Instant?
    /// When the client noticed that the gateway had ended the connection.
    private(set) var endSeen: Instant?
    private(set) var neverConnected = false
    /// The gateway responded in HTTP/1.1: the listener refuses connections.
    private(set) var hasUnsolicited = false

    private var isSending = false
    private var hasGoAway = false

    init(
        _ script: ScriptedConnection, _ framing: FramingScript, on loop: SimLoop,
        of cluster: Cluster
    ) {
        self.script = script
        self.framing = framing
        self.loop = loop
        self.cluster = cluster
    }

    /// Connects at the scripted time.
    func scheduleConnect(to address: SocketAddress) {
        loop.connect(to: address, after: .microseconds(script.start)) { [self] stream in
            guard let stream else {
                neverConnected = true
                isDone = true
                return
            }
            startConnection(stream)
        }
    }

    private func startConnection(_ stream: SimStream) {
        self.stream = stream
        worker = stream.peerName
        let frames = HTTP2PeerConnection(stream, framing, isHost: false, on: loop, of: self)
        self.frames = frames
        stream.startReading(for: self)
        frames.open()
        if framing.sendsOthers {
            frames.send(PeerFrame(.ping, on: 0, Array("12345678".utf8)))
            frames.send(PeerFrame(type: 0xF0, on: 0, [1, 2, 3]))
            later(5) { $0.frames?.changeWindow(to: 50_000) }
        }
        sendNextIfReady()
    }

    private func later(_ milliseconds: Int, _ action: @escaping (HTTP2Client) -> Void) {
        loop.timer(after: .milliseconds(milliseconds)) { [self] in
            if !isDone { action(self) }
        }
    }

    // MARK: Sending

    /// Schedules the next request, unless it has to wait for the responses to the others.
    private func sendNextIfReady() {
        guard !isDone, !isSending, halfClosed == nil else { return }
        let isIdle = sent.allSatisfy(\.isOver)
        guard sent.count < script.requests.count, !hasGoAway else {
            if isIdle, script.closesWhenDone { disconnect() }
            return
        }
        let request = script.requests[sent.count]
        guard isIdle || request.isPipelined else { return }
        isSending = true
        later(request.pause) { $0.sendRequest(request) }
    }

    private func sendRequest(_ request: ScriptedRequest) {
        guard let frames else { return }
        isSending = false
        guard !hasGoAway else { return sendNextIfReady() }
        let exchange = HTTP2ClientExchange(
            request, index: sent.count, start: frames.written, began: loop.now)
        sent.append(exchange)
        cluster.streamBegins(request)
        let body = request.http2Body
        let stall = request.stall
        let pausesInHead = stall.map { $0.at < 0.5 || body == nil } ?? false
        let head = frames.sendHead(
            request.http2Fields, on: exchange.id, endsStream: body == nil,
            pausing: pausesInHead ? stall : nil)
        exchange.headEnd = head.upperBound
        exchange.end = frames.written
        if let body {
            sendBody(body, of: exchange, pausing: pausesInHead ? nil : stall)
        } else {
            exchange.isSentWhole = true
        }
        performAction(after: exchange)
        sendNextIfReady()
    }

    /// Sends a body, with a pause in its middle.
    private func sendBody(
        _ body: [UInt8], of exchange: HTTP2ClientExchange,
        pausing pause: (at: Double, milliseconds: Int)?
    ) {
        guard let pause, body.count > 1 else {
            frames?.sendBody(body, on: exchange.id, endsStream: true)
            return
        }
        let half = body.count / 2
        frames?.sendBody(Array(body[..<half]), on: exchange.id, endsStream: false)
        later(pause.milliseconds) { client in
            client.frames?.sendBody(Array(body[half...]), on: exchange.id, endsStream: true)
        }
    }

    private func performAction(after exchange: HTTP2ClientExchange) {
        switch exchange.request.afterSending {
        case .waits: break
        case .halfCloses:
            halfClosed = loop.now
            stream?.finishWriting()
        // Over HTTP/2 a client can cancel one request and keep the connection.
        case .closes(let after): later(after) { $0.reset(exchange) }
        case .resets(let after): later(after) { $0.disconnect(byForce: true) }
        case .pausesReading(let duration):
            stream?.pauseReading()
            later(duration) { $0.stream?.resumeReading() }
        }
    }

    private func reset(_ exchange: HTTP2ClientExchange) {
        guard !exchange.isOver, halfClosed == nil, let frames else { return }
        exchange.isOver = true
        exchange.resetEnd = frames.reset(exchange.id, .cancel)
        sendNextIfReady()
    }

    /// Closes the connection, or resets it.
    func disconnect(byForce: Bool = false) {
        guard !isDone, let stream else { return }
        isDone = true
        frames?.end()
        disconnected = loop.now
        if byForce { stream.reset() } else { stream.close() }
    }

    // MARK: Events of the stream

    func streamReceived(_ bytes: Span<UInt8>) {
        guard !hasUnsolicited else { return }
        var received: [UInt8] = []
        received.append(copying: bytes)
        frames?.receive(received)
        sendNextIfReady()
    }

    func streamEnded() {
        endSeen = endSeen ?? loop.now
        isDone = true
        frames?.end()
        stream?.close()
    }

    func streamBlocked() {}

    func streamDrained() {}

    func streamFailed(_ failure: IOFailure) {
        endSeen = endSeen ?? loop.now
        isDone = true
        frames?.end()
    }

    /// Releases the connection, after the run was recorded.
    func releaseStream() { stream = nil }
}

extension HTTP2Client: FrameEvents {
    private func exchange(_ id: Int) -> HTTP2ClientExchange? { sent.first { $0.id == id } }

    func headReceived(_ head: ReceivedHead) {
        guard let exchange = exchange(head.stream) else {
            return cluster.recordViolation(
                .responses, sent.last?.mark, "a response on the stream \(head.stream)")
        }
        guard !exchange.isOver else { return }
        if let fault = HTTP2ClientExchange.fault(of: head) {
            cluster.recordViolation(.peers, exchange.mark, "a malformed response: \(fault)")
        }
        if let status = head[":status"], status.hasPrefix("1"), exchange.head == nil { return }
        // Another one has trailers.
        if exchange.head == nil {
            exchange.head = head.fields
            exchange.responseStart = head.range.lowerBound
        }
        if head.endsStream { completeResponse(of: exchange, at: head.range.upperBound) }
    }

    func dataReceived(_ bytes: [UInt8], on stream: Int, endsStream: Bool, at range: Range<Int>) {
        guard let exchange = exchange(stream), !exchange.isOver else { return }
        guard exchange.head != nil else {
            return cluster.recordViolation(.peers, exchange.mark, "DATA before the head")
        }
        exchange.body += bytes
        if endsStream { completeResponse(of: exchange, at: range.upperBound) }
    }

    private func completeResponse(of exchange: HTTP2ClientExchange, at position: Int) {
        exchange.isOver = true
        exchange.responseEnd = position
        exchange.received = loop.now
        if let fault = exchange.faultOfLength {
            cluster.recordViolation(.peers, exchange.mark, fault)
        }
    }

    func streamReset(_ id: Int, _ code: Int, at range: Range<Int>) {
        guard let exchange = exchange(id), !exchange.isOver else { return }
        exchange.isOver = true
        exchange.resetCode = code
        exchange.resetPosition = range.lowerBound
    }

    func goAwayReceived(lastID: Int, _ code: Int, at range: Range<Int>) {
        hasGoAway = true
        for exchange in sent where exchange.id > lastID && !exchange.isOver {
            exchange.isOver = true
            exchange.excludedAt = range.lowerBound
        }
    }

    func outputEnded(_ stream: Int, at position: Int) {
        guard let exchange = exchange(stream) else { return }
        exchange.end = position
        exchange.isSentWhole = true
    }

    func frameFault(_ text: String) {
        cluster.recordViolation(.peers, nil, "the gateway sent \(text)")
    }

    func connectionBroken(_ why: String) {
        // A listener with too many connections responds before it knows the protocol.
        guard sent.allSatisfy({ $0.head == nil }) else {
            return cluster.recordViolation(.peers, nil, "the gateway sent \(why)")
        }
        hasUnsolicited = true
    }
}
