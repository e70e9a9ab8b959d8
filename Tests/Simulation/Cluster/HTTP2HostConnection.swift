import Basics
import Reactor
import Rehearsal
import SimReactor

/// A connection from the gateway to a host of a backend with `protocol: http2`: it reads requests, performs
/// the scripted response of each, in the order of their times, and records the outcomes.
final class HTTP2HostConnection: HostConnection, ByteStreamDelegate {
    private let stream: SimStream
    private let loop: SimLoop
    private let target: BackendHost
    private unowned let cluster: Cluster
    private var frames: HTTP2PeerConnection?
    /// All requests, in order of arrival.
    private var exchanges: [HTTP2HostExchange] = []
    /// Streams above this one are not processed.
    private var lastServed = PeerFrame.highestID
    /// The most streams that the gateway may have open.
    private let streamsMax: Int
    /// Position behind the last GOAWAY that it has sent.
    private var goAwayEnd: Int?
    private var closesWhenSent = false
    private var isOver = false
    /// It has sent malformed frames, behind which the gateway reads nothing.
    private var isBroken = false

    init(
        _ stream: SimStream, _ script: FramingScript, _ target: BackendHost, streamsMax: Int,
        on loop: SimLoop, of cluster: Cluster
    ) {
        self.stream = stream
        self.loop = loop
        self.target = target
        self.cluster = cluster
        self.streamsMax = streamsMax
        let frames = HTTP2PeerConnection(stream, script, isHost: true, on: loop, of: self)
        self.frames = frames
        stream.startReading(for: self)
        frames.open()
    }

    /// Not behind the end of the connection, where nothing is sent any more.
    private func later(_ milliseconds: Int, _ action: @escaping (HTTP2HostConnection) -> Void) {
        loop.timer(after: .milliseconds(milliseconds)) { [weak self] in
            if let self, !isOver, !closesWhenSent { action(self) }
        }
    }

    private func exchange(_ id: Int) -> HTTP2HostExchange? { exchanges.last { $0.id == id } }

    // MARK: Requests

    private func receiveRequest(of exchange: HTTP2HostExchange) {
        guard exchange.request == nil, let message = exchange.message else { return }
        let earlier = exchanges.compactMap(\.request)
        guard
            let request = cluster.hostReceived(
                message, at: target,
                on: ConnectionPosition(
                    stream: stream, requestStart: exchange.start, before: earlier.count))
        else { return }
        var http2 = HTTP2Exchange()
        http2.earlier = earlier
        http2.isLimited = frames?.script.streamsMax != nil
        if frames?.isFrozen ?? true { http2.connectionEnd = .frozen }
        request.http2 = http2
        exchange.request = request
        guard exchange.id <= lastServed else {
            // GOAWAY was sent before the request arrived.
            exchange.isOver = true
            request.http2?.wasRefused = true
            request.http2?.failureEnd = goAwayEnd
            return
        }
        guard frames?.isFrozen == false, let script = request.script.http2 else { return }
        if let shutdown = script.shutdown { beginShutdown(shutdown, at: exchange) }
        guard exchange.id <= lastServed else { return }
        sendHeads(exchange, after: request.script.delay)
    }

    private func beginShutdown(_ shutdown: HTTP2Response.Shutdown, at exchange: HTTP2HostExchange) {
        // One of them is enough for a connection.
        guard lastServed == PeerFrame.highestID, goAwayEnd == nil else {
            if shutdown == .excluding { refuse(exchange) }
            return
        }
        switch shutdown {
        case .last: sendGoAway(lastID: exchange.id)
        case .excluding:
            sendGoAway(lastID: exchange.id - 2)
            if exchange.id <= lastServed { refuse(exchange) }
        case .graceful(let milliseconds):
            frames?.send(.goAway(lastID: PeerFrame.highestID, .noError))
            goAwayEnd = frames?.written
            later(milliseconds) { connection in
                connection.sendGoAway(lastID: connection.frames?.lastOpened ?? 0)
            }
        }
    }

    /// Requests on higher streams are not processed.
    private func sendGoAway(lastID: Int) {
        guard !isOver, let frames else { return }
        let served = exchanges.filter { $0.id > lastID && $0.hasResponded }.map(\.id).max()
        // What was answered cannot be unprocessed any more, and the last id never increases
        // (RFC 9113 6.8).
        let last = min(lastServed, max(lastID, served ?? 0))
        frames.send(.goAway(lastID: last, .noError))
        if goAwayEnd == nil || last < lastServed { goAwayEnd = frames.written }
        lastServed = last
        for exchange in exchanges where exchange.id > lastServed && !exchange.isOver {
            exchange.isOver = true
            exchange.request?.http2?.wasRefused = true
            exchange.request?.http2?.failureEnd = frames.written
        }
        closeIfUnused()
    }

    private func refuse(_ exchange: HTTP2HostExchange) {
        exchange.isOver = true
        exchange.request?.http2?.wasRefused = true
        exchange.request?.http2?.failureEnd = frames?.reset(exchange.id, .refusedStream)
    }

    // MARK: Responses

    private func sendHeads(_ exchange: HTTP2HostExchange, after milliseconds: Int) {
        if case .stalls = exchange.script.ending, exchange.script.heads.isEmpty { return }
        later(milliseconds) { connection in
            guard !exchange.isOver, let frames = connection.frames, !frames.isFrozen else { return }
            let script = exchange.script
            exchange.hasResponded = exchange.hasResponded || !script.heads.isEmpty
            for (index, head) in script.heads.enumerated() {
                let isFinal = index == script.heads.count - 1
                let endsStream =
                    isFinal && script.pieces.isEmpty && script.ending == .endsStream
                frames.sendHead(head, on: exchange.id, endsStream: endsStream)
                guard isFinal, !connection.isBroken else { continue }
                exchange.request?.http2?.headEnd = frames.written
            }
            connection.sendPiece(exchange, 0)
        }
    }

    private func sendPiece(_ exchange: HTTP2HostExchange, _ index: Int) {
        guard !exchange.isOver, let frames else { return }
        let script = exchange.script
        guard index < script.pieces.count else { return endResponse(of: exchange) }
        let isLast = index == script.pieces.count - 1
        let endsStream = isLast && script.ending == .endsStream
        frames.sendBody(script.pieces[index], on: exchange.id, endsStream: endsStream)
        if endsStream { return }
        let pause = isLast ? nil : exchange.request?.script.pause(before: index + 1)
        guard let pause else { return sendPiece(exchange, index + 1) }
        later(pause) { $0.sendPiece(exchange, index + 1) }
    }

    /// What follows the last piece of the body.
    private func endResponse(of exchange: HTTP2HostExchange) {
        guard let frames, !exchange.isOver else { return }
        switch exchange.script.ending {
        case .endsStream, .stalls: break
        case .trailers:
            guard frames.hasSentBody(of: exchange.id) else {
                return later(1) { $0.endResponse(of: exchange) }
            }
            frames.sendHead([("x-trailer", "1")], on: exchange.id, endsStream: true)
        case .resets(let code):
            exchange.isOver = true
            exchange.request?.http2?.failureEnd = frames.reset(exchange.id, rawCode: code)
        case .refuses: refuse(exchange)
        case .enhanceYourCalm:
            exchange.isOver = true
            exchange.request?.http2?.failureEnd = frames.reset(exchange.id, .enhanceYourCalm)
        case .closesConnection: closeWhenSent()
        case .resetsConnection: resetConnection()
        case .freezes:
            markConnection(.frozen)
            frames.isFrozen = true
        case .breaksConnection:
            markConnection(.malformed)
            isBroken = true
            frames.send(PeerFrame(.windowUpdate, on: 0, [0, 0, 0, 0]))
        }
    }

    /// The connection is not used any more: what is not complete fails.
    private func markConnection(_ end: HTTP2Exchange.ConnectionEnd) {
        for exchange in exchanges where exchange.request?.http2?.connectionEnd == nil {
            exchange.request?.http2?.connectionEnd = end
        }
    }

    private func responseEnded(_ exchange: HTTP2HostExchange, at position: Int) {
        guard !exchange.isOver else { return }
        exchange.isOver = true
        exchange.hasResponded = true
        if !isBroken { exchange.request?.http2?.responseEnd = position }
        if let idleEvent = exchange.script.idleEvent { scheduleIdleEvent(idleEvent) }
        closeIfUnused()
    }

    private func scheduleIdleEvent(_ event: ScriptedResponse.IdleEvent) {
        later(event.delay) { connection in
            switch event.kind {
            case .closes: connection.closeWhenSent()
            case .resets: connection.resetConnection()
            case .sendsData: connection.sendGoAway(lastID: connection.frames?.lastOpened ?? 0)
            }
        }
    }

    // MARK: The end

    /// Behind GOAWAY, the connection ends with its last stream.
    private func closeIfUnused() {
        guard lastServed < PeerFrame.highestID, exchanges.allSatisfy(\.isOver) else { return }
        stream.finishWriting()
    }

    /// Sends nothing more; closes the connection when all bytes are sent.
    private func closeWhenSent() {
        endConnection()
        stream.finishWriting()
        frames?.end()
        closesWhenSent = true
        if stream.unsentBytes == 0 { close() }
    }

    /// Ends the connection: what is not complete fails, and the host reads nothing more.
    private func endConnection() {
        markConnection(.lost)
        let now = cluster.network.clock.now
        for exchange in exchanges { exchange.request?.http2?.hostClosed = now }
    }

    private func resetConnection() {
        endConnection()
        stop()
        stream.reset()
    }

    func close() {
        guard !isOver else { return }
        stop()
        stream.close()
    }

    private func stop() {
        checkStarvation()
        isOver = true
        frames?.end()
    }

    /// Every byte that the gateway has read gets it credit.
    private func checkStarvation() {
        for exchange in exchanges where !exchange.isOver { checkStarvation(of: exchange) }
    }

    private func checkStarvation(of exchange: HTTP2HostExchange) {
        // A frozen host does not read the credit.
        guard let frames, !frames.isFrozen, let since = frames.starvedSince(exchange.id) else {
            return
        }
        let packet = cluster.network.settings.longestLatency
        guard loop.now - since > packet * 4 + .milliseconds(1) else { return }
        cluster.recordViolation(
            .peers, exchange.mark, "the gateway gives no credit for a response that it reads")
    }

    // MARK: Events of the stream

    func streamReceived(_ bytes: Span<UInt8>) {
        var received: [UInt8] = []
        received.append(copying: bytes)
        frames?.receive(received)
    }

    func streamEnded() { close() }

    func streamBlocked() {}

    func streamDrained() { if closesWhenSent { close() } }

    func streamFailed(_ failure: IOFailure) { stop() }
}

extension HTTP2HostConnection: FrameEvents {
    func headReceived(_ head: ReceivedHead) {
        if let exchange = exchange(head.stream) {
            // Trailers.
            if head.endsStream { receiveRequest(of: exchange) }
            return
        }
        let exchange = HTTP2HostExchange(head)
        if let fault = exchange.fault {
            cluster.recordViolation(.peers, exchange.mark, "a malformed request: \(fault)")
        }
        let open = exchanges.count { !$0.isOver } + 1
        if open > streamsMax {
            cluster.recordViolation(
                .limits, exchange.mark, "\(open) streams on a connection, \(streamsMax) are allowed"
            )
        }
        exchanges.append(exchange)
        if head.endsStream { receiveRequest(of: exchange) }
    }

    func dataReceived(_ bytes: [UInt8], on stream: Int, endsStream: Bool, at range: Range<Int>) {
        guard let exchange = exchange(stream) else { return }
        exchange.body += bytes
        if endsStream { receiveRequest(of: exchange) }
    }

    func streamReset(_ id: Int, _ code: Int, at range: Range<Int>) {
        guard let exchange = exchange(id) else { return }
        checkStarvation(of: exchange)
        exchange.isOver = true
        exchange.request?.http2?.resetStart = range.lowerBound
        closeIfUnused()
    }

    func goAwayReceived(lastID: Int, _ code: Int, at range: Range<Int>) {}

    func outputEnded(_ id: Int, at position: Int) {
        guard let exchange = exchange(id) else { return }
        responseEnded(exchange, at: position)
    }

    func frameFault(_ text: String) {
        cluster.recordViolation(.peers, nil, "the gateway sent \(text)")
    }

    func connectionBroken(_ why: String) {
        cluster.recordViolation(.peers, nil, "the gateway sent \(why)")
    }
}
