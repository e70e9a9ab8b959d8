import Basics
import CNGHTTP2
import HTTP

/// The callbacks of nghttp2, all of them: each finds its session and calls it. The session is alive
/// during every call of nghttp2, since its owner makes that call.
enum Engine {
    /// A session of nghttp2; nil if memory is short.
    static func makeSession(
        _ role: H2Session.Role, _ limits: H2Limits, _ memory: EngineMemory
    ) -> OpaquePointer? {
        var callbacks: OpaquePointer?
        guard nghttp2_session_callbacks_new(&callbacks) == 0, let callbacks else { return nil }
        defer { nghttp2_session_callbacks_del(callbacks) }
        set(callbacks)
        var option: OpaquePointer?
        guard nghttp2_option_new(&option) == 0, let option else { return nil }
        defer { nghttp2_option_del(option) }
        set(option, limits)
        var session: OpaquePointer?
        let result =
            switch role {
            case .server:
                nghttp2_session_server_new3(&session, callbacks, nil, option, &memory.functions)
            case .client:
                nghttp2_session_client_new3(&session, callbacks, nil, option, &memory.functions)
            }
        return result == 0 ? session : nil
    }

    private static func set(_ option: OpaquePointer, _ limits: H2Limits) {
        // Credit returns when bytes are consumed.
        nghttp2_option_set_no_auto_window_update(option, 1)
        // Closed streams are not needed, since priorities are ignored.
        nghttp2_option_set_no_closed_streams(option, 1)
        nghttp2_option_set_max_outbound_ack(option, limits.acknowledgements)
        // `BlockProgress` counts them.
        nghttp2_option_set_max_continuations(option, .max)
        nghttp2_option_set_max_send_header_block_length(option, limits.sentHeadBytes)
        // Its limiter reads a clock; `AbuseBudget` limits resets instead.
        nghttp2_option_set_stream_reset_rate_limit(option, .max, .max)
        // Until the first SETTINGS of the peer (RFC 9113 6.5.2 recommends at least 100).
        nghttp2_option_set_peer_max_concurrent_streams(option, 100)
    }

    /// Makes nghttp2 read a body from the stream's queue.
    static var bodySource: nghttp2_data_provider {
        nghttp2_data_provider(
            source: nghttp2_data_source(),
            read_callback: { _, id, _, length, flags, _, data in
                guard let session = Engine.session(data) else { return Engine.failure }
                return session.bodyRead(id, upTo: length, flags)
            })
    }

    private static func set(_ callbacks: OpaquePointer) {
        setReceiving(callbacks)
        nghttp2_session_callbacks_set_send_data_callback(callbacks) {
            _, frame, head, length, _, data in
            guard let session = Engine.session(data), let frame, let head else {
                return Engine.failureCode
            }
            let bytes = UnsafeBufferPointer(start: head, count: Engine.headBytes)
            return session.dataSent(frame.pointee.hd.stream_id, bytes.span, length)
        }
        nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { _, frame, data in
            guard let session = Engine.session(data), let frame else { return Engine.failureCode }
            session.frameSent(frame.pointee.hd)
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks) { _, frame, _, data in
            guard let session = Engine.session(data), let frame else { return Engine.failureCode }
            session.frameNotSent(frame.pointee.hd)
            return 0
        }
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, id, code, data in
            guard let session = Engine.session(data) else { return Engine.failureCode }
            if let stream = session.stream(id) {
                session.removeStream(stream, H2Code(number: code))
            }
            return 0
        }
    }

    private static func setReceiving(_ callbacks: OpaquePointer) {
        nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks) { _, head, data in
            guard let session = Engine.session(data), let head else { return Engine.failureCode }
            return session.frameBegan(head.pointee) ? 0 : Engine.failureCode
        }
        nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, data in
            guard let session = Engine.session(data), let frame else { return Engine.failureCode }
            return session.blockBegan(frame.pointee)
        }
        nghttp2_session_callbacks_set_on_header_callback(callbacks) {
            _, _, name, nameCount, value, valueCount, _, data in
            guard let session = Engine.session(data) else { return Engine.failureCode }
            let name = UnsafeBufferPointer(start: name, count: nameCount)
            let value = UnsafeBufferPointer(start: value, count: valueCount)
            return session.fieldReceived(name.span, value.span) ? 0 : Engine.failureCode
        }
        // Without it nghttp2 would skip a malformed field; a message with one is malformed
        // (RFC 9113 8.2.1).
        nghttp2_session_callbacks_set_on_invalid_header_callback(callbacks) {
            _, _, _, _, _, _, _, _ in
            NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
        }
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) {
            _, _, id, bytes, count, data in
            guard let session = Engine.session(data) else { return Engine.failureCode }
            session.dataReceived(id, UnsafeBufferPointer(start: bytes, count: count).span)
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, data in
            guard let session = Engine.session(data), let frame else { return Engine.failureCode }
            return session.frameReceived(frame.pointee) ? 0 : Engine.failureCode
        }
        nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks) {
            _, frame, _, data in
            guard let session = Engine.session(data), let frame else { return Engine.failureCode }
            return session.invalidFrameReceived(frame.pointee.hd) ? 0 : Engine.failureCode
        }
    }

    private static func session(_ data: UnsafeMutableRawPointer?) -> H2Session? {
        data.map { Unmanaged<H2Session>.fromOpaque($0).takeUnretainedValue() }
    }

    private static var failureCode: Int32 { NGHTTP2_ERR_CALLBACK_FAILURE.rawValue }
    private static var failure: Int { Int(failureCode) }
    /// The head of a frame, in bytes (RFC 9113 4.1).
    static let headBytes = 9
}

extension H2Session {
    // MARK: Receiving

    /// The head of a frame arrived. False ends the connection.
    fileprivate func frameBegan(_ head: nghttp2_frame_hd) -> Bool {
        switch nghttp2_frame_type(UInt32(head.type)) {
        case NGHTTP2_HEADERS: return headersBegan(on: head.stream_id)
        case NGHTTP2_CONTINUATION: return true
        // RFC 9113 8.4: the client has disabled it, which nghttp2 enforces only after the server has
        // acknowledged that.
        case NGHTTP2_PUSH_PROMISE where role == .client:
            events?.invalidFrameReceived()
            return endConnection(.push, .protocolError)
        case NGHTTP2_DATA: return head.length > 0 || charge(.frame)
        case NGHTTP2_RST_STREAM: return charge(costOfReset(of: head.stream_id))
        // RFC 9113 6.3. nghttp2 does not read frames of priorities, which are ignored.
        case NGHTTP2_PRIORITY where head.stream_id == 0:
            return endConnection(.invalidFrame, .protocolError)
        // A WINDOW_UPDATE of some size gets its cost back.
        default: return charge(.frame)
        }
    }

    /// What a reset by the peer costs. A server may reset a stream behind its complete response
    /// (RFC 9113 8.1), also while the reset of this side is on its way.
    private func costOfReset(of id: Int32) -> AbuseBudget.Cost {
        role == .client && nghttp2_session_get_stream_remote_close(raw, id) != 0 ? .frame : .reset
    }

    /// A complete and valid frame. False ends the connection.
    fileprivate func frameReceived(_ frame: nghttp2_frame) -> Bool {
        let endsStream = frame.hd.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
        let isAcknowledgement = frame.hd.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0
        switch nghttp2_frame_type(UInt32(frame.hd.type)) {
        case NGHTTP2_HEADERS:
            if endsStream { messageEnded() }
            return headReceived(frame.hd.stream_id, frame.headers.cat, endsStream)
        case NGHTTP2_DATA:
            if frame.hd.length > 0, frame.data.padlen == frame.hd.length, !charge(.frame) {
                return false
            }
            if endsStream {
                messageEnded()
                stream(frame.hd.stream_id)?.handler?.bodyEnded(trailers: Fields())
            }
        case NGHTTP2_WINDOW_UPDATE:
            if frame.window_update.window_size_increment >= Self.usefulIncrement {
                budget.refundFrame()
            }
        case NGHTTP2_SETTINGS where isAcknowledgement: isLimitKnown = true
        case NGHTTP2_SETTINGS: events?.settingsReceived()
        case NGHTTP2_PING where isAcknowledgement: events?.pongReceived()
        case NGHTTP2_GOAWAY:
            hasReceivedGoAway = true
            events?.goAwayReceived(
                lastID: frame.goaway.last_stream_id, H2Code(number: frame.goaway.error_code))
            resetUnsentStreams()
        default: break
        }
        return true
    }

    /// The peer has ended its side of a stream.
    private func messageEnded() {
        if role == .client { budget.responseDelivered() }
    }

    /// A smaller WINDOW_UPDATE makes this side send small pieces (CVE-2019-9511).
    private static var usefulIncrement: Int32 { 1024 }

    /// A frame that makes its stream or the connection invalid. False ends the connection.
    fileprivate func invalidFrameReceived(_ head: nghttp2_frame_hd) -> Bool {
        stream(head.stream_id)?.isMalformed = true
        events?.invalidFrameReceived()
        return charge(.reset)
    }

    /// False if the budget is used up: the connection ends.
    func charge(_ cost: AbuseBudget.Cost) -> Bool {
        budget.charge(cost, at: now) || endConnection(.flood, .enhanceYourCalm)
    }

    /// Ends the connection with GOAWAY; returns false.
    func endConnection(_ reason: Failure, _ code: H2Code) -> Bool {
        guard failure == nil else { return false }
        failure = reason
        terminate(code)
        return false
    }

    fileprivate func dataReceived(_ id: Int32, _ piece: Span<UInt8>) {
        guard let stream = stream(id), let handler = stream.handler else {
            return didDiscard(piece.count)
        }
        handler.dataReceived(piece)
    }

    // MARK: Sending

    /// The next bytes of a body: returns their number, which `dataSent` then writes.
    fileprivate func bodyRead(
        _ id: Int32, upTo limit: Int, _ flags: UnsafeMutablePointer<UInt32>?
    ) -> Int {
        guard let stream = stream(id) else {
            return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)
        }
        let length = stream.outgoing.runLength(upTo: limit)
        flags?.pointee |= NGHTTP2_DATA_FLAG_NO_COPY.rawValue
        guard length == stream.outgoing.count else { return length }
        switch stream.outgoing.end {
        case .open where length == 0:
            stream.outgoing.isDeferred = true
            return Int(NGHTTP2_ERR_DEFERRED.rawValue)
        case .submitted: return Int(NGHTTP2_ERR_DEFERRED.rawValue)
        case .open: break
        case .plain: flags?.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue
        case .trailers(let trailers):
            flags?.pointee |=
                NGHTTP2_DATA_FLAG_EOF.rawValue | NGHTTP2_DATA_FLAG_NO_END_STREAM.rawValue
            submitTrailers(trailers, on: stream)
        }
        return length
    }

    /// Writes a frame with the next bytes of a body.
    fileprivate func dataSent(_ id: Int32, _ head: Span<UInt8>, _ length: Int) -> Int32 {
        guard let stream = stream(id) else {
            return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
        }
        events?.writeFrames(head, stream.outgoing.run(of: length).span)
        stream.outgoing.removeFirst(length)
        stream.lastTaken = now
        stream.sentBytes += length
        if let mark = stream.lowMark, stream.outgoing.count <= mark {
            stream.lowMark = nil
            sendingEvents.append(.low(stream))
        }
        queuedBytes -= length
        writeRoom -= head.count + length
        if case .open = stream.outgoing.end {
            let isDrained = stream.outgoing.count == 0
            if isDrained { sendingEvents.append(.drained(stream)) }
            // A small piece that the peer's window has cut does not count as progress
            // (CVE-2019-9511).
            if length > 0, isDrained || length >= Int(Self.usefulIncrement) { budget.pieceSent() }
        }
        return writeRoom > 0 ? 0 : NGHTTP2_ERR_PAUSE.rawValue
    }

    fileprivate func frameSent(_ head: nghttp2_frame_hd) {
        let endsStream = head.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
        switch nghttp2_frame_type(UInt32(head.type)) {
        case NGHTTP2_HEADERS:
            guard let stream = stream(head.stream_id) else { return }
            stream.hasSentHead = true
            if endsStream {
                sendingEvents.append(.ended(stream))
            } else if stream.outgoing.count == 0 {
                submitEnd(of: stream)
            }
        case NGHTTP2_DATA where endsStream:
            if let stream = stream(head.stream_id) { sendingEvents.append(.ended(stream)) }
        case NGHTTP2_RST_STREAM: resetSent(head.stream_id)
        case NGHTTP2_GOAWAY where mustPing:
            // Behind it, so that the acknowledgement shows that it has arrived.
            mustPing = false
            sendPing()
        default: break
        }
    }

    /// nghttp2 does not report a body of another length than stated: it resets the stream.
    private func resetSent(_ id: Int32) {
        guard let stream = stream(id), !stream.isResetting, !stream.isMalformed else { return }
        stream.isMalformed = true
        events?.invalidFrameReceived()
        _ = charge(.reset)
    }

    /// A frame was refused when it should be sent: a head that is too large, for example. Its
    /// stream must not wait for it. nghttp2 itself closes the stream of a request, which the peer
    /// does not know.
    fileprivate func frameNotSent(_ head: nghttp2_frame_hd) {
        guard nghttp2_frame_type(UInt32(head.type)) == NGHTTP2_HEADERS, role == .server,
            let stream = stream(head.stream_id)
        else { return }
        reset(stream, .internalError)
    }
}
