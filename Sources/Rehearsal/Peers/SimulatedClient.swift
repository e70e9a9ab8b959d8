package import Basics
import Promises
package import Reactor
package import SimReactor

/// A request that a client sent, and what became of it.
package final class SentRequest {
    package let request: ScriptedRequest
    /// Its place on its connection.
    package let place: Int
    package unowned let client: SimulatedClient
    /// Where its bytes stand among those of the connection.
    package let bytes: Range<Int>
    /// When the client began to send it.
    package let began: Instant

    package var answer: PeerMessage?
    /// Where the answer's first byte stands among what came.
    package var answerStart = 0
    package var received: Instant?

    package init(
        _ request: ScriptedRequest, place: Int, of client: SimulatedClient, bytes: Range<Int>,
        began: Instant
    ) {
        self.request = request
        self.place = place
        self.client = client
        self.bytes = bytes
        self.began = began
    }

    package var mark: String { request.mark }

    /// When the gateway read its first byte.
    package var firstRead: Instant? { client.stream?.outgoingJournal.read(at: bytes.lowerBound) }

    /// When the gateway read its last byte.
    package var read: Instant? { client.stream?.outgoingJournal.read(at: bytes.upperBound - 1) }

    /// When the gateway wrote the answer.
    package var answered: Instant? {
        answer == nil ? nil : client.stream?.incomingJournal.written(at: answerStart)
    }
}

/// A client that does what was drawn for its connection, and writes down what comes.
package final class SimulatedClient: ByteStreamDelegate {
    package let script: ScriptedConnection
    private unowned let delegate: any ClientDelegate
    private let loop: SimLoop
    package private(set) var stream: SimStream?
    package private(set) var sent: [SentRequest] = []
    /// The gateway's core at the other end.
    package private(set) var worker: String?

    package private(set) var isDone = false
    /// When the client itself went away, or ended its side.
    package private(set) var left: Instant?
    package private(set) var halfClosed: Instant?
    /// When the gateway ended the connection, as it was noticed here.
    package private(set) var wasClosed: Instant?
    package private(set) var neverConnected = false

    private var next = 0
    private var isSending = false
    private var written = 0
    private var rest: [UInt8] = []
    private var position = 0
    private var answers = 0

    package init(_ script: ScriptedConnection, on loop: SimLoop, of delegate: any ClientDelegate) {
        self.script = script
        self.loop = loop
        self.delegate = delegate
    }

    /// Connects at its time.
    package func start(to address: SocketAddress) {
        loop.timer(after: .microseconds(script.start)) { [self] in
            loop.connect(to: address).whenSettled { [self] result in
                guard case .success(let stream) = result, let stream = stream as? SimStream else {
                    neverConnected = true
                    isDone = true
                    return
                }
                self.stream = stream
                worker = stream.peerName
                stream.startReading(for: self)
                goOn()
            }
        }
    }

    // MARK: Sending

    /// Sends the next request if it is its time.
    private func goOn() {
        guard !isDone, !isSending, halfClosed == nil else { return }
        guard next < script.requests.count else {
            if answers == sent.count, script.leaves { leave() }
            return
        }
        let request = script.requests[next]
        guard answers == sent.count || request.isPipelined else { return }
        isSending = true
        loop.timer(after: .milliseconds(request.pause)) { [self] in begin(request) }
    }

    private func begin(_ request: ScriptedRequest) {
        guard !isDone else { return }
        let bytes = request.bytes
        sent.append(
            SentRequest(
                request, place: next, of: self, bytes: written..<written + bytes.count,
                began: loop.now))
        delegate.sent(sent[sent.count - 1])
        written += bytes.count
        next += 1
        guard let stall = request.stall, bytes.count > 1 else {
            write(bytes)
            return ended(request)
        }
        let cut = max(1, min(bytes.count - 1, Int(Double(bytes.count) * stall.at)))
        write(Array(bytes[..<cut]))
        loop.timer(after: .milliseconds(stall.milliseconds)) { [self] in
            guard !isDone else { return }
            write(Array(bytes[cut...]))
            ended(request)
        }
    }

    private func write(_ bytes: [UInt8]) { stream?.write(bytes.span) }

    private func ended(_ request: ScriptedRequest) {
        isSending = false
        switch request.then {
        case .waits: break
        case .halfCloses:
            halfClosed = loop.now
            stream?.finishWriting()
        case .closes(let after): later(after) { $0.leave() }
        case .resets(let after): later(after) { $0.leave(byForce: true) }
        case .pausesReading(let duration):
            stream?.pauseReading()
            later(duration) { $0.stream?.resumeReading() }
        }
        goOn()
    }

    private func later(_ milliseconds: Int, _ action: @escaping (SimulatedClient) -> Void) {
        loop.timer(after: .milliseconds(milliseconds)) { [self] in
            if !isDone { action(self) }
        }
    }

    /// Goes away.
    package func leave(byForce: Bool = false) {
        guard !isDone, let stream else { return }
        isDone = true
        left = loop.now
        if byForce { stream.reset() } else { stream.close() }
    }

    // MARK: Reading

    package func streamReceived(_ bytes: Span<UInt8>) {
        rest.append(copying: bytes)
        while !rest.isEmpty, readOne() {}
        goOn()
    }

    private func readOne() -> Bool {
        let current = answers < sent.count ? sent[answers] : nil
        switch PeerMessage.read(rest, answersHead: current?.request.method == "HEAD") {
        case .needsMore: return false
        case .broken(let why):
            delegate.found(.malformed, current?.mark, "the gateway answered nonsense: \(why)")
            rest = []
            return false
        case .message(let message):
            rest.removeFirst(message.length)
            defer { position += message.length }
            if message.status >= 200 { took(message, for: current) }
            return true
        }
    }

    private func took(_ message: PeerMessage, for request: SentRequest?) {
        guard let request else {
            // Told before it could ask: too many connections, or nothing came in time.
            if sent.isEmpty || isUnasked(message) { return delegate.unasked(message, self) }
            return delegate.found(
                .surplusResponse, sent.last?.mark,
                "one more answer than requests: \(message.startLine)")
        }
        request.answer = message
        request.answerStart = position
        request.received = loop.now
        answers += 1
    }

    /// An answer that ends a connection on which no request is under way.
    private func isUnasked(_ message: PeerMessage) -> Bool {
        message["Connection"] == "close" && message["X-Request-Id"] != sent.last?.mark
    }

    package func streamEnded() {
        wasClosed = wasClosed ?? loop.now
        isDone = true
        stream?.close()
    }

    package func streamBlocked() {}

    package func streamDrained() {}

    package func streamFailed(_ failure: IOFailure) {
        wasClosed = wasClosed ?? loop.now
        isDone = true
    }

    /// Lets go of what it holds, after everything was checked.
    package func forget() { stream = nil }
}

/// The owner of a simulated client.
package protocol ClientDelegate: AnyObject {
    func sent(_ request: SentRequest)

    /// The gateway sent a response while no request was under way.
    func unasked(_ message: PeerMessage, _ client: SimulatedClient)

    func found(_ fault: PeerFault, _ mark: String?, _ text: String)
}
