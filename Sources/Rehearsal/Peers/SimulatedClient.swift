package import Basics
package import Reactor
package import SimReactor

/// A request that a client sent, and its response.
package final class SentRequest {
    package let request: ScriptedRequest
    /// Counts the requests of its connection, from 0.
    package let index: Int
    package unowned let client: SimulatedClient
    /// Position of its bytes among all that the client sent on the connection.
    package let bytes: Range<Int>
    /// When the client began to send it.
    package let began: Instant

    package var response: PeerMessage?
    /// Position of the first byte of the response among all that the client received.
    package var responseStart = 0
    package var received: Instant?

    package init(
        _ request: ScriptedRequest, index: Int, of client: SimulatedClient, bytes: Range<Int>,
        began: Instant
    ) {
        self.request = request
        self.index = index
        self.client = client
        self.bytes = bytes
        self.began = began
    }

    package var mark: String { request.mark }

    /// When the gateway read its first byte.
    package var firstRead: Instant? { client.stream?.outgoingJournal.read(at: bytes.lowerBound) }

    /// When the gateway read its last byte.
    package var read: Instant? { client.stream?.outgoingJournal.read(at: bytes.upperBound - 1) }

    /// When the gateway wrote the status of the response.
    package var responded: Instant? {
        response == nil
            ? nil
            : client.stream?.incomingJournal.written(at: responseStart + PeerMessage.versionBytes)
    }

    /// When the last byte of the response had left the gateway.
    package var responseTaken: Instant? {
        response.flatMap {
            client.stream?.incomingJournal.taken(at: responseStart + $0.length - 1)
        }
    }
}

/// A simulated client: it sends the requests of its script and records the responses.
package final class SimulatedClient: ByteStreamDelegate {
    package let script: ScriptedConnection
    private unowned let delegate: any ClientDelegate
    private let loop: SimLoop
    package private(set) var stream: SimStream?
    package private(set) var sent: [SentRequest] = []
    /// Name of the worker that accepted the connection.
    package private(set) var worker: String?

    package private(set) var isDone = false
    /// When the client itself closed the connection, or its own direction of it.
    package private(set) var disconnected: Instant?
    package private(set) var halfClosed: Instant?
    /// When the client noticed that the gateway had ended the connection.
    package private(set) var endSeen: Instant?
    package private(set) var neverConnected = false

    private var nextIndex = 0
    private var isSending = false
    private var written = 0
    private var rest: [UInt8] = []
    private var position = 0
    private var responseCount = 0

    package init(_ script: ScriptedConnection, on loop: SimLoop, of delegate: any ClientDelegate) {
        self.script = script
        self.loop = loop
        self.delegate = delegate
    }

    /// Connects at the scripted time.
    package func scheduleConnect(to address: SocketAddress) {
        loop.connect(to: address, after: .microseconds(script.start)) { [self] stream in
            guard let stream else {
                neverConnected = true
                isDone = true
                return
            }
            self.stream = stream
            worker = stream.peerName
            stream.startReading(for: self)
            sendNextIfReady()
        }
    }

    // MARK: Sending

    /// Schedules the next request, unless it has to wait for a response.
    private func sendNextIfReady() {
        guard !isDone, !isSending, halfClosed == nil else { return }
        guard nextIndex < script.requests.count else {
            if responseCount == sent.count, script.closesWhenDone { disconnect() }
            return
        }
        let request = script.requests[nextIndex]
        guard responseCount == sent.count || request.isPipelined else { return }
        isSending = true
        loop.timer(after: .milliseconds(request.pause)) { [self] in sendRequest(request) }
    }

    private func sendRequest(_ request: ScriptedRequest) {
        guard !isDone else { return }
        let bytes = request.bytes
        sent.append(
            SentRequest(
                request, index: nextIndex, of: self, bytes: written..<written + bytes.count,
                began: loop.now))
        delegate.clientSends(sent[sent.count - 1])
        written += bytes.count
        nextIndex += 1
        send(bytes[...], request.pauses(in: bytes.count)[...], of: request)
    }

    /// Sends the bytes, with a pause at each of these positions.
    private func send(
        _ bytes: ArraySlice<UInt8>, _ pauses: ArraySlice<ScriptedRequest.Pause>,
        of request: ScriptedRequest
    ) {
        guard let pause = pauses.first else {
            write(Array(bytes))
            return endRequest(request)
        }
        write(Array(bytes[..<pause.at]))
        loop.timer(after: .milliseconds(pause.milliseconds)) { [self] in
            guard !isDone else { return }
            send(bytes[pause.at...], pauses.dropFirst(), of: request)
        }
    }

    private func write(_ bytes: [UInt8]) { stream?.write(bytes.span) }

    private func endRequest(_ request: ScriptedRequest) {
        isSending = false
        switch request.afterSending {
        case .waits: break
        case .halfCloses:
            halfClosed = loop.now
            stream?.finishWriting()
        case .closes(let after): later(after) { $0.disconnect() }
        case .resets(let after): later(after) { $0.disconnect(byForce: true) }
        case .pausesReading(let duration):
            stream?.pauseReading()
            later(duration) { $0.stream?.resumeReading() }
        }
        sendNextIfReady()
    }

    private func later(_ milliseconds: Int, _ action: @escaping (SimulatedClient) -> Void) {
        loop.timer(after: .milliseconds(milliseconds)) { [self] in
            if !isDone { action(self) }
        }
    }

    /// The head of a response that ended before its last byte.
    package var unfinishedResponse: PeerMessage? {
        guard isDone, responseCount < sent.count,
            case .message(let head) = PeerMessage.readHead(rest)
        else { return nil }
        return head
    }

    /// Closes the connection, or resets it.
    package func disconnect(byForce: Bool = false) {
        guard !isDone, let stream else { return }
        isDone = true
        disconnected = loop.now
        if byForce { stream.reset() } else { stream.close() }
    }

    // MARK: Reading

    package func streamReceived(_ bytes: Span<UInt8>) {
        rest.append(copying: bytes)
        while !rest.isEmpty, readMessage() {}
        sendNextIfReady()
    }

    private func readMessage() -> Bool {
        let current = responseCount < sent.count ? sent[responseCount] : nil
        switch PeerMessage.read(rest, isResponseToHead: current?.request.method == "HEAD") {
        case .needsMore: return false
        case .broken(let why):
            delegate.recordFault(
                .malformed, current?.mark, "the gateway sent a malformed response: \(why)")
            rest = []
            return false
        case .message(let message):
            rest.removeFirst(message.length)
            defer { position += message.length }
            if message.status >= 200 { receiveResponse(message, for: current) }
            return true
        }
    }

    private func receiveResponse(_ message: PeerMessage, for request: SentRequest?) {
        guard let request else {
            // Sent before a request: too many connections, or the first request was too slow.
            if sent.isEmpty || isUnsolicited(message) {
                return delegate.clientReceivedUnsolicited(message, self)
            }
            return delegate.recordFault(
                .surplusResponse, sent.last?.mark,
                "one more response than requests: \(message.startLine)")
        }
        request.response = message
        request.responseStart = position
        request.received = loop.now
        responseCount += 1
    }

    /// A response that ends a connection without a request in progress.
    private func isUnsolicited(_ message: PeerMessage) -> Bool {
        message["Connection"] == "close" && message["X-Request-Id"] != sent.last?.mark
    }

    package func streamEnded() {
        endSeen = endSeen ?? loop.now
        isDone = true
        stream?.close()
    }

    package func streamBlocked() {}

    package func streamDrained() {}

    package func streamFailed(_ failure: IOFailure) {
        endSeen = endSeen ?? loop.now
        isDone = true
    }

    /// Releases the connection, after the run was recorded.
    package func releaseStream() { stream = nil }
}

/// The owner of a simulated client.
package protocol ClientDelegate: AnyObject {
    /// The client begins to send a request.
    func clientSends(_ request: SentRequest)

    /// The gateway sent a response while no request was in progress.
    func clientReceivedUnsolicited(_ message: PeerMessage, _ client: SimulatedClient)

    func recordFault(_ fault: PeerFault, _ mark: String?, _ text: String)
}
