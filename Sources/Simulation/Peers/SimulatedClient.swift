import Basics
import Promises
import Reactor
import SimReactor

/// A request that a client sent, and what became of it.
final class SentRequest {
    let request: DrawnRequest
    /// Its place on its connection.
    let place: Int
    unowned let client: SimulatedClient
    /// Where its bytes stand among those of the connection.
    let bytes: Range<Int>
    /// When the client began to send it.
    let began: Instant

    var answer: Message?
    /// Where the answer's first byte stands among what came.
    var answerStart = 0
    var received: Instant?

    init(
        _ request: DrawnRequest, place: Int, of client: SimulatedClient, bytes: Range<Int>,
        began: Instant
    ) {
        self.request = request
        self.place = place
        self.client = client
        self.bytes = bytes
        self.began = began
    }

    var mark: String { request.mark }

    /// When the gateway read its first byte.
    var firstRead: Instant? { client.stream?.said.read(at: bytes.lowerBound) }

    /// When the gateway read its last byte.
    var read: Instant? { client.stream?.said.read(at: bytes.upperBound - 1) }

    /// When the gateway wrote the answer.
    var answered: Instant? {
        answer == nil ? nil : client.stream?.heard.written(at: answerStart)
    }
}

/// A client that does what was drawn for its connection, and writes down what comes.
final class SimulatedClient: ByteStreamDelegate {
    let script: DrawnConnection
    private unowned let world: any ClientWorld
    private let loop: SimLoop
    private(set) var stream: SimStream?
    private(set) var sent: [SentRequest] = []
    /// The gateway's core at the other end.
    private(set) var core: String?

    private(set) var isDone = false
    /// When the client itself went away, or ended its side.
    private(set) var left: Instant?
    private(set) var halfClosed: Instant?
    /// When the gateway ended the connection, as it was noticed here.
    private(set) var wasClosed: Instant?
    private(set) var neverConnected = false

    private var next = 0
    private var isSending = false
    private var written = 0
    private var rest: [UInt8] = []
    private var position = 0
    private var answers = 0

    init(_ script: DrawnConnection, on loop: SimLoop, of world: any ClientWorld) {
        self.script = script
        self.loop = loop
        self.world = world
    }

    /// Connects at its time.
    func start(to address: SocketAddress) {
        loop.timer(after: .microseconds(script.start)) { [self] in
            loop.connect(to: address).whenSettled { [self] result in
                guard case .success(let stream) = result, let stream = stream as? SimStream else {
                    neverConnected = true
                    isDone = true
                    return
                }
                self.stream = stream
                core = stream.peerName
                stream.start(self)
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

    private func begin(_ request: DrawnRequest) {
        guard !isDone else { return }
        let bytes = request.bytes
        sent.append(
            SentRequest(
                request, place: next, of: self, bytes: written..<written + bytes.count,
                began: loop.now))
        world.sent(sent[sent.count - 1])
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

    private func ended(_ request: DrawnRequest) {
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
    func leave(byForce: Bool = false) {
        guard !isDone, let stream else { return }
        isDone = true
        left = loop.now
        if byForce { stream.reset() } else { stream.close() }
    }

    // MARK: Reading

    func streamReceived(_ bytes: Span<UInt8>) {
        rest.append(copying: bytes)
        while !rest.isEmpty, readOne() {}
        goOn()
    }

    private func readOne() -> Bool {
        let current = answers < sent.count ? sent[answers] : nil
        switch Message.read(rest, answersHead: current?.request.method == "HEAD") {
        case .needsMore: return false
        case .broken(let why):
            world.violation(.peers, current?.mark, "the gateway answered nonsense: \(why)")
            rest = []
            return false
        case .message(let message):
            rest.removeFirst(message.length)
            defer { position += message.length }
            if message.status >= 200 { took(message, for: current) }
            return true
        }
    }

    private func took(_ message: Message, for request: SentRequest?) {
        guard let request else {
            // Told before it could ask: too many connections, or nothing came in time.
            if sent.isEmpty || isUnasked(message) { return world.unasked(message, self) }
            return world.violation(
                .answers, sent.last?.mark, "one more answer than requests: \(message.startLine)")
        }
        request.answer = message
        request.answerStart = position
        request.received = loop.now
        answers += 1
    }

    /// An answer that ends a connection on which no request is under way.
    private func isUnasked(_ message: Message) -> Bool {
        message["Connection"] == "close" && message["X-Request-Id"] != sent.last?.mark
    }

    func streamEnded() {
        wasClosed = wasClosed ?? loop.now
        isDone = true
        stream?.close()
    }

    func streamBlocked() {}

    func streamDrained() {}

    func streamFailed(_ failure: IOFailure) {
        wasClosed = wasClosed ?? loop.now
        isDone = true
    }

    /// Lets go of what it holds, after everything was checked.
    func forget() { stream = nil }
}

/// What clients need of their world.
protocol ClientWorld: AnyObject {
    func sent(_ request: SentRequest)

    /// The gateway answered where no request was under way.
    func unasked(_ message: Message, _ client: SimulatedClient)

    func violation(_ checker: Checker, _ mark: String?, _ text: String)
}
