import Basics
import Reactor
import Rehearsal
import SimReactor

/// A simulated client with HTTP/2 and prior knowledge: it sends the requests of its script, several at
/// once, and records the responses.
final class HTTP2Client: PeerClient {
    private let script: ScriptedConnection
    private let framing: FramingScript
    private var frames: HTTP2PeerConnection?
    private(set) var sent: [HTTP2ClientExchange] = []
    private var isSending = false
    private var hasGoAway = false

    init(
        _ script: ScriptedConnection, _ framing: FramingScript, on loop: SimLoop,
        of cluster: Cluster
    ) {
        self.script = script
        self.framing = framing
        super.init(script.number, start: script.start, on: loop, of: cluster)
    }

    override var requestRecords: [RequestRecord] { sent.map { RequestRecord($0, of: self) } }

    override func startConnection(_ stream: SimStream) {
        let frames = HTTP2PeerConnection(stream, framing, isHost: false, on: loop, of: self)
        self.frames = frames
        stream.startReading(for: self)
        frames.open()
        if framing.sendsOthers {
            frames.send(PeerFrame(.ping, on: 0, Array("12345678".utf8)))
            frames.send(PeerFrame(type: 0xF0, on: 0, [1, 2, 3]))
            later(5) { frames.changeWindow(to: 50_000) }
        }
        sendNextIfReady()
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
        later(request.pause) { self.sendRequest(request) }
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
        later(pause.milliseconds) { [frames] in
            frames?.sendBody(Array(body[half...]), on: exchange.id, endsStream: true)
        }
    }

    private func performAction(after exchange: HTTP2ClientExchange) {
        switch exchange.request.afterSending {
        case .waits: break
        case .halfCloses:
            halfClosed = loop.now
            stream?.finishWriting()
        // Over HTTP/2 a client can cancel one request and keep the connection.
        case .closes(let after): later(after) { self.reset(exchange) }
        case .resets(let after): later(after) { self.disconnect(byForce: true) }
        case .pausesReading(let duration):
            stream?.pauseReading()
            later(duration) { self.stream?.resumeReading() }
        }
    }

    private func reset(_ exchange: HTTP2ClientExchange) {
        guard !exchange.isOver, halfClosed == nil, let frames else { return }
        exchange.isOver = true
        exchange.resetEnd = frames.reset(exchange.id, .cancel)
        sendNextIfReady()
    }

    override func finish() {
        super.finish()
        frames?.end()
    }

    override func receive(_ bytes: [UInt8]) {
        guard !hasUnsolicited else { return }
        frames?.receive(bytes)
        sendNextIfReady()
    }
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
        // The listener refuses connections, in HTTP/1.1.
        hasUnsolicited = true
    }
}
