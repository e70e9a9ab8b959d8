import Basics
import HTTP
import HTTP2

/// A call on a connection of HTTP/2, from its request to the end of its response. The stream of the
/// session owns it; confined to the loop.
final class H2ClientStream {
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
    /// Held until the stream has ended, which may be after the end of the call.
    private var permit: Permit?
    /// Nil after the end of the call, which may be before the end of the stream.
    private var call: PendingCall?
    /// Sends a streamed body; nil for a complete one. Until the end of the stream, which may hold unsent
    /// bytes for longer than the call lasts.
    private var body: BodyWriter?

    /// A response on this connection was complete before.
    private let reusesConnection: Bool
    private let began: Instant
    private var interimResponses = 0
    private var hasReceivedHead = false
    private var hasSentEnd = false
    /// The user of the response does not take its body.
    private var isPaused = false
    /// Received bytes that the user has not taken.
    private var untakenBytes = 0
    /// Bytes of a streamed body that the user has taken, until the window grows.
    private var takenBytes = 0
    private var hasGrownWindow = false

    init(_ call: PendingCall, on connection: H2ClientConnection, reusesConnection: Bool) {
        self.call = call
        self.connection = connection
        self.reusesConnection = reusesConnection
        began = connection.pool.now
    }

    // MARK: The request

    /// Gives the request to the session; false if the connection takes no more.
    func sendRequest(_ writer: H2RequestWriter) -> Bool {
        guard let call, let connection else { return false }
        let content = CompleteContent(call.request.body)
        guard
            let stream = writer.write(
                call, to: connection.session, endsStream: content == .none, handler: self)
        else {
            _ = takeCall()
            self.connection = nil
            return false
        }
        self.stream = stream
        permit = call.permit
        permit?.workBegan()
        call.h2Stream = self
        call.recordSent(.http2, reusingConnection: reusesConnection)
        switch call.request.body {
        case .bytes(let bytes):
            guard content != .none else { break }
            connection.session.sendBody(bytes, on: stream, at: began)
        case .stream(let source):
            let body = BodyWriter(
                source, RequestFraming(of: call.request.body).body, to: self,
                countedIn: call.request.exchange?.exchange.budget)
            self.body = body
            body.start()
        case .described, .tunnel: break
        }
        return true
    }

    /// Whether a request has content.
    private enum CompleteContent {
        case none, some

        init(_ body: Body) {
            switch body {
            case .bytes(let bytes): self = bytes.isEmpty ? .none : .some
            case .described, .tunnel: self = .none
            case .stream: self = .some
            }
        }
    }

    // MARK: The end

    private func takeCall() -> PendingCall? {
        guard let call = call.take() else { return nil }
        call.h2Stream = nil
        body?.cancel()
        return call
    }

    /// The response is not needed.
    func cancel() {
        guard let call = takeCall(), let connection else { return }
        // First, so that a dead connection gets no other call.
        if call.isTimedOut { connection.callTimedOut(begunAt: began) }
        endEarly()
    }

    /// The call has ended, and the stream has not.
    private func endEarly() {
        guard let connection else { return }
        connection.endEarly(self)
    }

    /// Resets the stream. The connection may have another call at once.
    func reset() {
        guard let connection = connection.take(), let stream else { return }
        connection.session.reset(stream, .cancel)
        stream.handler = nil
        connection.callStreamEnded()
    }

    private func complete() {
        guard let call = takeCall() else { return }
        connection?.responseCompleted()
        // The connection is returned first, so that the next call of the response's user can use
        // it.
        if hasSentEnd {
            stream?.handler = nil
            connection.take()?.callStreamEnded()
        } else {
            // RFC 9113 8.1: the backend does not need the rest of the request.
            endEarly()
        }
        call.complete()
    }

    /// The response cannot be taken.
    private func fail(_ failure: ClientFailure) {
        guard let call = takeCall() else { return }
        endEarly()
        call.fail(failure)
    }

    /// Whether the stream has ended.
    var hasEnded: Bool { connection == nil }

    /// The connection drops the call without a result.
    func drop() {
        _ = takeCall()
        connection = nil
        stream?.handler = nil
    }

    /// The connection has ended, and is not in the pool any more.
    ///
    /// - Parameter failure: of a call whose request was sent; nil if it is that of a lost connection
    func connectionEnded(_ cause: ClientFailure.Cause, _ failure: ClientFailure?) {
        let (pool, endsBehindCall) = (connection?.pool, connection?.endsBehindCall ?? false)
        let call = takeCall()
        connection = nil
        stream?.handler = nil
        guard let pool, let call else { return }
        guard let stream, stream.hasSentHead else {
            return pool.resendUnprocessed(call, cause, isCounted: !endsBehindCall)
        }
        // Its malformed response arrived together with the end of the connection.
        if stream.isMalformed { return call.fail(stream.protocolFailure(hasReceivedHead)) }
        if let failure { return call.fail(failure) }
        let lost = ClientFailure.lost(cause, responseHasBegun: hasReceivedHead)
        if reusesConnection, !hasReceivedHead {
            pool.resendLost(call, after: lost)
        } else {
            call.fail(lost)
        }
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

    func breakBody(_ error: any Error) {
        guard let call = takeCall() else { return }
        endEarly()
        call.fail(ClientFailure.ofBody(error))
    }
}

extension H2ClientStream: ResponseCarrier {
    func pauseReading() { isPaused = true }

    func resumeReading() {
        guard isPaused else { return }
        isPaused = false
        guard let connection, let stream, untakenBytes > 0 else { return }
        connection.session.didTake(untakenBytes, on: stream)
        userTook(untakenBytes, on: stream, connection.session)
        untakenBytes = 0
        connection.outputChanged()
    }

    /// HTTP/2 switches no protocols (RFC 9113 8.6).
    func sendTunnel(from source: any BodySource) { source.cancel() }
}

extension H2ClientStream: H2StreamEvents {
    func responseReceived(_ head: ResponseHead, endsStream: Bool) {
        guard let call, let connection else { return }
        if head.status.isInterim {
            interimResponses += 1
            guard interimResponses <= connection.limits.interimResponses else {
                connection.stopCalls()
                return fail(
                    ClientFailure(.protocolError, .wire(.tooManyInterimResponses), wasSent: true))
            }
            return call.receiveInterim(head)
        }
        hasReceivedHead = true
        do throws(ClientFailure) {
            try call.receive(head, on: self)
        } catch {
            return fail(error)
        }
        if endsStream { complete() }
    }

    /// Grows the window of a streamed body whose user keeps taking it: what a slow user does not take
    /// has to be buffered.
    private func userTook(_ count: Int, on stream: H2Stream, _ session: H2Session) {
        guard !hasGrownWindow else { return }
        takenBytes += count
        guard takenBytes >= Self.growingBytes else { return }
        hasGrownWindow = true
        session.growWindow(of: stream, to: Self.streamedWindow)
    }

    /// The window of a body that is passed on as it arrives, in bytes.
    ///
    /// 256 KiB: 20 MiB/s with a round trip of 12 ms.
    private static let streamedWindow = 256 * 1024

    /// What the user has to take before the window grows, in bytes.
    ///
    /// 128 KiB: one that takes nothing pauses earlier.
    private static let growingBytes = 128 * 1024

    func dataReceived(_ piece: Span<UInt8>) {
        guard let session = connection?.session, let stream else { return }
        guard let call else { return session.didDiscard(piece.count) }
        do throws(ClientFailure) {
            try call.receive(piece)
        } catch {
            session.didDiscard(piece.count)
            return fail(error)
        }
        if isPaused {
            // Only its own window closes: other calls need that of the connection.
            session.didDiscard(piece.count)
            untakenBytes += piece.count
        } else {
            session.didConsume(piece.count, on: stream)
            if call.stream != nil { userTook(piece.count, on: stream, session) }
        }
    }

    func bodyEnded(trailers: Fields) {
        if !trailers.isEmpty { call?.receiveTrailers(trailers.wireText) }
        complete()
    }

    func outputDrained() { body?.outputDrained() }

    func outputEnded() {
        hasSentEnd = true
        body?.outputDrained()
    }

    func streamClosed(_ code: H2Code, isReset: Bool) {
        let call = takeCall()
        guard let connection = connection.take() else { return }
        let pool = connection.pool
        let isRefused =
            code == .refusedStream && !hasReceivedHead && stream?.hasSentHead ?? false
        // Before the pool uses the connection for another call.
        if stream?.isMalformed ?? false { connection.stopCalls() }
        if isRefused { connection.streamRefused() }
        connection.callStreamEnded()
        guard let call, let stream else { return }
        if stream.isMalformed { return call.fail(stream.protocolFailure(hasReceivedHead)) }
        if isRefused || !stream.hasSentHead {
            return pool.resendUnprocessed(call, .refused, isCounted: !connection.endsBehindCall)
        }
        switch code {
        case .http11Required where !hasReceivedHead:
            return pool.resendOverHTTP1(call)
        case .enhanceYourCalm: pool.pauseConnecting()
        default: break
        }
        call.fail(ClientFailure.lost(.reset(code.number), responseHasBegun: hasReceivedHead))
    }
}

extension H2Stream {
    /// The backend has sent a malformed response.
    fileprivate func protocolFailure(_ hasReceivedHead: Bool) -> ClientFailure {
        if let fault, !hasReceivedHead { return .head(fault) }
        return ClientFailure(
            .protocolError, fault.map(ClientFailure.Cause.wire) ?? .frames, wasSent: true)
    }
}
