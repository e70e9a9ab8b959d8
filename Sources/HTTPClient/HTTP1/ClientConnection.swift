import Basics
import HTTP
import Reactor

/// One HTTP/1.1 connection to a backend: passes bytes from its stream to the state machine, the
/// response to its call, and outcomes to the pool, which owns it.
///
/// It also reads while it is idle, so that it detects at once when the backend closes or sends
/// unsolicited data.
final class ClientConnection: PooledConnection, ResponseCarrier {
    private let id: ConnectionID
    private let stream: any ByteStream
    private let writer: RequestWriter
    /// The pool closes all its connections before it is released.
    private unowned let pool: any CallPool
    private var machine: ClientStateMachine
    private var call: PendingCall?
    /// Sends the streamed body of the call's request; nil for a complete body.
    private var requestBody: (writer: BodyWriter, target: RequestBodyTarget)?
    private var isPaused = false
    /// A request was written to it before.
    private var wasUsed = false
    /// It ends with its call.
    private var isRetired = false

    init(
        _ id: ConnectionID, on stream: any ByteStream, of pool: any CallPool, writer: RequestWriter,
        limits: WireLimits
    ) {
        self.id = id
        self.stream = stream
        self.pool = pool
        self.writer = writer
        machine = ClientStateMachine(limits: limits)
    }

    /// Starts to read.
    func startReading() {
        stream.startReading(for: self)
    }

    /// Sends a call's request. The connection must be idle.
    func send(_ call: PendingCall) {
        assert(self.call == nil && requestBody == nil, "a connection has two calls")
        assert(!isPaused && !isRetired, "a call on a paused or retired connection")
        self.call = call
        machine.beginRequest(
            call.request.method, mayUpgrade: call.stream?.upgrade != nil,
            statusesWithoutFields: call.request.template.statusesWithoutFields)
        writer.write(call.request, call.stream, to: stream)
        call.recordSent(.http11, reusingConnection: wasUsed)
        wasUsed = true
        if case .stream(let source) = call.request.body {
            sendBody(from: source, .body(RequestFraming(of: call.request.body)))
        }
    }

    /// HTTP/1.1 cannot skip a response, so the connection is closed.
    func cancel(_ call: PendingCall) {
        pool.removeConnection(id)
    }

    func retire() {
        isRetired = true
        if call == nil { pool.removeConnection(id) }
    }

    func close() {
        machine.close()
        call = nil
        stopSendingBody()
        stream.discardBuffered()
        stream.close()
    }

    // MARK: Back-pressure of a streamed response

    func pauseReading() {
        guard !isPaused else { return }
        isPaused = true
        stream.pauseReading()
    }

    func resumeReading() {
        guard isPaused else { return }
        isPaused = false
        stream.resumeReading()
    }

    // MARK: The request

    /// Sends the bytes of a tunnel, unchanged.
    func sendTunnel(from source: any BodySource) {
        guard call != nil else { return source.cancel() }
        sendBody(from: source, .tunnel)
    }

    private func sendBody(from source: any BodySource, _ framing: RequestBodyTarget.Framing) {
        let target = RequestBodyTarget(stream, framing) { [weak self] error in self?.fail(error) }
        let writer = BodyWriter(
            source, framing.body, to: target,
            countedIn: call?.request.exchange?.exchange.budget)
        requestBody = (writer, target)
        writer.start()
    }

    private func stopSendingBody() {
        requestBody.take()?.writer.cancel()
    }

    /// A complete request is one write, so it counts as offered with its first byte.
    private var sendProgress: ClientStateMachine.SendProgress {
        let (body, hasOfferedAll) = (requestBody, stream.hasOfferedAll)
        if let body, body.target.hasStartedSending, !hasOfferedAll { return .some }
        guard hasOfferedAll else { return .none }
        return stream.unsentBytes == 0 && body?.writer.isOver ?? true ? .all : .some
    }

    // MARK: The response

    /// Performs an action; false if the bytes contain nothing more for the call.
    ///
    /// Inlined, so that the action, which may hold a head, is not stored and destroyed.
    @inline(__always)
    private func perform(_ action: ClientStateMachine.Action, _ bytes: Span<UInt8>) -> Bool {
        switch action {
        case .nothing: return false
        case .interim(let head):
            call?.receiveInterim(head)
            return true
        case .head(let head): return receive(head)
        case .body(let range): return receive(bytes.extracting(range))
        case .trailers(let range):
            call?.receiveTrailers(bytes.extracting(range))
            return true
        case .end(let isReusable): endCall(isReusable: isReusable)
        case .fail(let failure, let mayResend): fail(failure, mayResend: mayResend)
        case .retire: pool.removeConnection(id)
        }
        return false
    }

    private func receive(_ head: ResponseHead) -> Bool {
        guard let call = call else { return false }
        do throws(ClientFailure) {
            try call.receive(head, on: self)
            return true
        } catch {
            fail(error, mayResend: false)
            return false
        }
    }

    private func receive(_ piece: Span<UInt8>) -> Bool {
        guard let call = call else { return false }
        do throws(ClientFailure) {
            try call.receive(piece)
            return true
        } catch {
            fail(error, mayResend: false)
            return false
        }
    }

    // MARK: The end of a call

    private func endCall(isReusable: Bool) {
        guard let call = call.take() else { return }
        assert(
            !isReusable || stream.unsentBytes == 0 && requestBody?.writer.isOver ?? true,
            "a connection with an unsent request is used again")
        stopSendingBody()
        // The connection is returned first, so that the next call of the response's user can use
        // it. The call's reference to the pool needs no count, unlike the connection's.
        if isReusable, !isRetired {
            resumeReading()
            call.pool.returnConnection(id)
        } else {
            call.pool.removeConnection(id)
        }
        call.complete()
    }

    private func fail(_ failure: ClientFailure, mayResend: Bool) {
        guard let call = call.take() else { return }
        pool.handleFailure(of: call, on: id, failure, mayResend: mayResend)
    }

    /// The body of the request cannot be sent.
    private func fail(_ error: any Error) {
        guard let call = call.take() else { return }
        pool.removeConnection(id)
        call.fail(error)
    }
}

extension ClientConnection: ByteStreamDelegate {
    func streamReceived(_ bytes: Span<UInt8>) {
        let sendProgress = sendProgress
        var position = 0
        while perform(
            machine.receive(bytes, from: &position, sendProgress: sendProgress), bytes)
        {}
    }

    func streamEnded() {
        _ = perform(machine.streamEnded(sendProgress: sendProgress), Span())
    }

    func streamBlocked() {
        requestBody?.writer.outputBlocked(unsent: stream.unsentBytes)
    }

    func streamDrained() {
        requestBody?.writer.outputDrained()
    }

    /// A backend that takes no more of a request may have answered it.
    var readsAfterFailedWrite: Bool { true }

    func streamFailed(_ failure: IOFailure) {
        _ = perform(machine.streamFailed(failure, sendProgress: sendProgress), Span())
    }
}
