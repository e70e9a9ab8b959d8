import Basics
import Reactor
import Rehearsal
import SimReactor

/// A connection from the gateway to a host of a backend of endpoints with `proxy`.
final class StreamHostConnection: HostConnection, ByteStreamDelegate {
    private let stream: CountedStream
    private let target: BackendHost
    private let loop: SimLoop
    private unowned let cluster: Cluster
    private var decoder = MessageDecoder(.requests)
    private var current: HostStream?
    private var requestCount = 0
    /// Of the present request: whether it is complete, and whether its response has begun.
    private var isRequestComplete = false
    private var hasTriggered = false
    private var isInterimDone = false
    private var isOver = false
    /// Closes once the network has taken all bytes: closing earlier would discard the rest.
    private var closesWhenSent = false

    init(_ stream: SimStream, _ target: BackendHost, _ loop: SimLoop, of cluster: Cluster) {
        self.stream = CountedStream(stream)
        self.target = target
        self.loop = loop
        self.cluster = cluster
        stream.startReading(for: self)
    }

    // MARK: The request

    func streamReceived(_ bytes: Span<UInt8>) {
        var received: [UInt8] = []
        received.append(copying: bytes)
        decoder.receive(received) { event, position in handle(event, position) }
    }

    private func handle(_ event: MessageDecoder.Event, _ position: Int) {
        switch event {
        case .interim: break
        case .head(let message): begin(message, at: position - message.length)
        case .body(let bytes):
            current?.reader.receive(bytes)
            respondIfDue()
        case .end:
            current?.reader.complete([])
            current?.requestEnd = position
            isRequestComplete = true
            respondIfDue()
            nextIfOver()
        case .broken(let why):
            cluster.recordViolation(
                .peers, current?.key.mark, "the gateway sent a malformed request: \(why)")
        }
    }

    private func begin(_ message: PeerMessage, at position: Int) {
        if let current, current.responseEnd == nil {
            cluster.recordViolation(
                .peers, current.key.mark, "a second request on a busy connection")
        }
        guard let (key, script) = cluster.streamArrived(message, at: target) else { return }
        let reader = BodyReader(
            script.reading, StreamContent(number: key.number, direction: .upload),
            of: stream.stream, loop)
        let attempt = HostStream(
            key, at: target, head: message, script: script, on: stream, before: requestCount,
            reader: reader, arrived: loop.now, requestStart: position)
        cluster.streamAttempts.append(attempt)
        requestCount += 1
        current = attempt
        isRequestComplete = false
        hasTriggered = false
        isInterimDone = false
        reader.pauseIfScripted()
        sendInterim(of: attempt, 0)
        respondIfDue()
    }

    // MARK: The response

    private func later(
        _ attempt: HostStream, _ milliseconds: Int,
        _ action: @escaping (StreamHostConnection) -> Void
    ) {
        loop.timer(after: .milliseconds(milliseconds)) { [self] in
            if !isOver, current === attempt { action(self) }
        }
    }

    private func sendInterim(of attempt: HostStream, _ index: Int) {
        guard index < attempt.script.interim.count else {
            isInterimDone = true
            return respondIfDue()
        }
        let (status, delay) = attempt.script.interim[index]
        later(attempt, delay) { connection in
            let link =
                status == 103
                ? "Link: </\(attempt.key.mark)>\r\nConnection: X-Hop\r\nX-Hop: 1\r\n" : ""
            connection.write("HTTP/1.1 \(status) Interim\r\n\(link)\r\n")
            connection.sendInterim(of: attempt, index + 1)
        }
    }

    /// Begins the response once the script says so.
    private func respondIfDue() {
        guard let attempt = current, isInterimDone, !hasTriggered else { return }
        switch attempt.script.trigger {
        case .head: break
        case .bytes(let count) where attempt.reader.received < count && !isRequestComplete: return
        case .end where !isRequestComplete: return
        case .bytes, .end: break
        }
        hasTriggered = true
        later(attempt, attempt.script.delay) { $0.respond(attempt) }
    }

    private func respond(_ attempt: HostStream) {
        switch attempt.script.outcome {
        case .silent: break
        case .closes: stream.stream.finishWriting()
        case .resets:
            attempt.wasReset = true
            stream.stream.reset()
            isOver = true
        case .malformed: write("HTTP/1.1 2x0 Broken\r\n\r\n")
        case .responds: sendResponse(attempt)
        }
    }

    private func sendResponse(_ attempt: HostStream) {
        let script = attempt.script
        attempt.headStart = stream.written
        if script.upgrade != nil { decoder.switchProtocol() }
        if let upgrade = script.upgrade {
            write(
                "HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: \(upgrade)\r\n"
                    + Self.lines(script.fields) + "\r\n")
        } else {
            let fields =
                script.fields + script.body.fields
                + (script.closesConnection ? [("Connection", "close")] : [])
            write(
                "HTTP/1.\(script.isHTTP10 ? 0 : 1) \(script.status) Some Words\r\n"
                    + Self.lines(fields) + "\r\n")
        }
        attempt.responseBody = stream.written
        guard script.sendsBody(to: attempt.head) else {
            attempt.responseEnd = stream.written
            return responseEnded(attempt)
        }
        let sender = BodySender(
            script.body, StreamContent(number: attempt.key.number, direction: .download),
            on: stream, loop
        ) { [weak self, unowned attempt] ending in self?.bodyEnded(attempt, ending) }
        attempt.sender = sender
        sender.start()
    }

    private static func lines(_ fields: [(name: String, value: String)]) -> String {
        fields.map { "\($0.name): \($0.value)\r\n" }.joined()
    }

    private func bodyEnded(_ attempt: HostStream, _ ending: BodyScript.Ending) {
        // Without a length, the end of the connection completes the response, wherever it comes.
        let endsBody = ending.endsConnection && attempt.script.body.framing == .untilClose
        switch ending {
        case _ where endsBody || ending == .complete:
            attempt.responseEnd = stream.written
            responseEnded(attempt)
        case .resets:
            attempt.wasReset = true
            isOver = true
        case .stalls where attempt.sawTunnelEnd:
            attempt.responseEnd = stream.written
            closeWhenSent()
        case .complete, .stalls, .ends, .malformed: break
        }
    }

    private func responseEnded(_ attempt: HostStream) {
        if attempt.sawTunnelEnd { return closeWhenSent() }
        if attempt.script.closesConnection, attempt.script.body.framing != .untilClose {
            return stream.stream.finishWriting()
        }
        if let idleLoss = attempt.script.idleLoss {
            later(attempt, idleLoss) { connection in
                // Not before the network has taken the response.
                if connection.isRequestComplete, connection.stream.stream.unsentBytes == 0 {
                    connection.close()
                }
            }
        }
        nextIfOver()
    }

    /// A further request may follow on the connection.
    private func nextIfOver() {
        guard let current, isRequestComplete, current.responseEnd != nil else { return }
        current.reader.isOver = true
    }

    private func write(_ text: String) { stream.write(Array(text.utf8)) }

    // MARK: The end

    func streamEnded() {
        guard let attempt = current, attempt.script.upgrade != nil, let sender = attempt.sender
        else {
            return close()
        }
        guard !sender.isOver else {
            attempt.responseEnd = attempt.responseEnd ?? stream.written
            return closeWhenSent()
        }
        // The gateway passes on the end of the client; the other direction continues.
        attempt.sawTunnelEnd = true
    }

    func streamBlocked() {}

    func streamDrained() {
        current?.sender?.resume()
        if closesWhenSent { closeWhenSent() }
    }

    func streamFailed(_ failure: IOFailure) { finish() }

    private func closeWhenSent() {
        stream.stream.finishWriting()
        closesWhenSent = true
        if stream.stream.unsentBytes == 0 { close() }
    }

    func close() {
        finish()
        stream.stream.close()
    }

    private func finish() {
        isOver = true
        current?.sender?.cancel()
        current?.reader.isOver = true
    }
}

extension StreamResponseScript {
    /// Whether a body follows the head (RFC 9112 6.3).
    func sendsBody(to request: PeerMessage) -> Bool {
        if upgrade != nil { return true }
        return body.framing != .none && !request.startLine.hasPrefix("HEAD ") && status != 204
            && status != 304
    }
}
