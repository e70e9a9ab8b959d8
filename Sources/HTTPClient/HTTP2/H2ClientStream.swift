import Basics
import HTTP
import HTTP2

/// A call on a connection of HTTP/2, from its request to the end of its response: it passes bytes between the session
/// and the call, and performs the actions of its machine. The machine decides. The stream of the session owns it;
/// confined to the loop.
final class H2ClientStream: CallStream {
    /// Nil before the request is given to the session.
    private(set) var stream: H2Stream?
    /// Nil after the end of the stream.
    private var connection: H2ClientConnection? {
        didSet {
            guard connection == nil else { return }
            body = nil
            permit.take()?.workEnded()
        }
    }
    private var machine: H2CallMachine
    /// Held until the stream has ended, which may be after the end of the call.
    private var permit: Permit?
    /// Nil after the end of the call, which may be before the end of the stream.
    private var call: PendingCall?
    /// Sends a streamed body; nil for a complete one. Until the end of the stream, which may hold unsent
    /// bytes for longer than the call lasts.
    private var body: BodyWriter?
    private let began: Instant

    init(_ call: PendingCall, on connection: H2ClientConnection, reusesConnection: Bool) {
        self.call = call
        self.connection = connection
        machine = H2CallMachine(
            isStreamed: call.stream != nil, reusesConnection: reusesConnection,
            interimResponsesMax: connection.limits.interimResponses)
        began = connection.pool.now
    }

    // MARK: The request

    /// Gives the request to the session; false if the connection takes no more.
    func sendRequest(_ writer: H2RequestWriter) -> Bool {
        assert(stream == nil && body == nil, "a request is sent twice on one stream")
        guard let call, let connection else { return false }
        let request = call.request
        let endsStream = request.body.isKnownEmpty
        guard
            let stream = writer.write(
                call, to: connection.session, endsStream: endsStream, handler: self)
        else {
            handle(.callDropped)
            return false
        }
        self.stream = stream
        permit = call.permit
        permit?.workBegan()
        call.h2Stream = self
        call.recordSent(.http2, reusingConnection: machine.reusesConnection)
        switch request.body {
        case .bytes(let bytes):
            if !endsStream { connection.session.sendBody(bytes, on: stream, at: began) }
        case .stream(let source):
            let body = BodyWriter(
                source, RequestFraming(of: request.body).body, to: self,
                countedIn: request.exchange?.exchange.budget)
            self.body = body
            body.start()
        case .described, .tunnel: break
        }
        return true
    }

    // MARK: Decisions of the state machine

    private func handle(_ event: H2CallMachine.Event) {
        guard let connection, let action = machine.handle(event) else { return }
        perform(action, on: connection)
    }

    private func perform(_ action: H2CallMachine.Action, on connection: H2ClientConnection) {
        switch action {
        case .complete(let endsStream):
            let completed = takeCall()
            connection.responseCompleted()
            // The connection is returned first, so that the next call of the response's user can use
            // it.
            endsStream ? returnConnection() : connection.endEarly(self)
            completed?.complete()
        case .endEarly(let testsConnection):
            _ = takeCall()
            // First, so that a dead connection gets no other call.
            if testsConnection { connection.callTimedOut(begunAt: began) }
            connection.endEarly(self)
        case .returnCredit(let count, let growsWindow):
            guard let stream else { return }
            connection.session.didTake(count, on: stream)
            if growsWindow { growWindow(connection.session) }
            connection.outputChanged()
        case .reset:
            if let stream { connection.session.reset(stream, .cancel) }
            returnConnection()
        case .close(let closing, let outcome):
            let ended = takeCall()
            self.connection = nil
            // Before the pool uses the connection for another call.
            switch closing {
            case .malformed: connection.stopCalls()
            case .refused: connection.streamRefused()
            case .other: break
            }
            connection.callStreamEnded()
            end(ended, outcome, of: connection)
        case .leave(let outcome):
            let ended = takeCall()
            self.connection = nil
            stream?.handler = nil
            end(ended, outcome, of: connection)
        }
    }

    // MARK: The end

    private func takeCall() -> PendingCall? {
        guard let call = call.take() else { return nil }
        call.h2Stream = nil
        body?.cancel()
        return call
    }

    /// The connection can have another call.
    private func returnConnection() {
        stream?.handler = nil
        connection.take()?.callStreamEnded()
    }

    private func end(
        _ call: PendingCall?, _ outcome: H2CallMachine.Outcome?, of connection: H2ClientConnection
    ) {
        guard let call, let outcome else { return }
        // Not the connection's, which may outlive it.
        let pool = call.pool
        switch outcome {
        case .resendUnprocessed(let cause):
            pool.resendUnprocessed(call, cause, isCounted: !connection.endsBehindCall)
        case .resendLost(let failure): pool.resendLost(call, after: failure)
        case .resendOverHTTP1: pool.resendOverHTTP1(call)
        case .fail(let failure, let pausesConnecting):
            if pausesConnecting { pool.pauseConnecting() }
            call.fail(failure)
        }
    }

    /// The request cannot be sent, or the response cannot be taken.
    private func fail(_ error: any Error) {
        let failed = call
        handle(.callFailed)
        failed?.fail(error)
    }

    /// The response is not needed.
    func cancel() { handle(.callCancelled(isTimedOut: call?.isTimedOut ?? false)) }

    /// Resets the stream of a call that has ended. The connection may have another call at once.
    func reset() { handle(.resetDue) }

    /// Whether the stream has ended.
    var hasEnded: Bool { connection == nil }

    /// The connection drops the call without a result.
    func drop() { handle(.callDropped) }

    /// The connection has ended, and is not in the pool any more.
    ///
    /// - Parameter failure: the result of a call whose request was sent; nil for a lost connection
    func connectionEnded(_ cause: ClientFailure.Cause, _ failure: ClientFailure?) {
        handle(.connectionEnded(cause, failure, H2CallMachine.Facts(stream)))
    }
}

extension H2ClientStream: BodyTarget {
    /// As on the side of clients.
    var pendingBytes: Int {
        guard let connection, let stream else { return 0 }
        return stream.queuedBytes + connection.blockedBytes
    }

    func writeBody(_ piece: Span<UInt8>) -> Int {
        guard let connection, let stream else { return 0 }
        connection.session.sendPiece(piece, on: stream, at: connection.pool.now)
        connection.outputChanged()
        return stream.queuedBytes
    }

    func endBody(trailers: Fields) {
        guard let connection, let stream else { return }
        connection.session.endBody(of: stream, trailers: trailers)
        connection.outputChanged()
    }

    func breakBody(_ error: any Error) { fail(ClientFailure.ofBody(error)) }
}

extension H2ClientStream: ResponseCarrier {
    func pauseReading() { handle(.readingPaused) }

    func resumeReading() { handle(.readingResumed) }

    /// HTTP/2 switches no protocols (RFC 9113 8.6).
    func sendTunnel(from source: any BodySource) { source.cancel() }
}

extension H2ClientStream: H2StreamEvents {
    func responseReceived(_ head: ResponseHead, endsStream: Bool) {
        guard let call, let connection else { return }
        switch machine.receiveHead(isInterim: head.status.isInterim) {
        case .take:
            do throws(ClientFailure) {
                try call.receive(head, on: self)
            } catch {
                return fail(error)
            }
            if endsStream { handle(.responseEnded) }
        case .takeInterim: call.receiveInterim(head)
        case .refuse:
            connection.stopCalls()
            fail(ClientFailure(.protocolError, .wire(.tooManyInterimResponses), wasSent: true))
        case .drop: break
        }
    }

    func dataReceived(_ piece: Span<UInt8>) {
        guard let session = connection?.session, let stream else { return }
        do throws(ClientFailure) {
            try call?.receive(piece)
        } catch {
            session.didDiscard(piece.count)
            return fail(error)
        }
        switch machine.receive(piece.count) {
        case .connection: session.didDiscard(piece.count)
        case .stream(let growsWindow):
            session.didConsume(piece.count, on: stream)
            if growsWindow { growWindow(session) }
        }
    }

    private func growWindow(_ session: H2Session) {
        if let stream { session.growWindow(of: stream, to: Self.streamedWindow) }
    }

    /// The window of a body that is passed on as it arrives, in bytes.
    ///
    /// 256 KiB: 20 MiB/s with a round trip of 12 ms.
    private static let streamedWindow = 256 * 1024

    func bodyEnded(trailers: Fields) {
        if !trailers.isEmpty { call?.receiveTrailers(trailers.wireText) }
        handle(.responseEnded)
    }

    func outputDrained() { body?.outputDrained() }

    func outputEnded() {
        handle(.requestSent)
        body?.outputDrained()
    }

    func streamClosed(_ code: H2Code, isReset: Bool) {
        handle(.streamClosed(code, H2CallMachine.Facts(stream)))
    }
}

extension H2CallMachine.Facts {
    /// Nil before the request is given to the session.
    fileprivate init(_ stream: H2Stream?) {
        self.init(
            hasSentHead: stream?.hasSentHead ?? false, isMalformed: stream?.isMalformed ?? false,
            fault: stream?.fault)
    }
}

extension Body {
    /// Whether a request with it has no content for sure.
    fileprivate var isKnownEmpty: Bool {
        switch self {
        case .bytes(let bytes): bytes.isEmpty
        case .described, .tunnel: true
        case .stream: false
        }
    }
}
