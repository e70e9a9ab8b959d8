package import Basics
import CNGHTTP2
import HTTP

/// One side of an HTTP/2 connection without the connection: bytes in, events out, bytes to write.
/// It has no socket and no clock; frames, header compression and flow control are nghttp2's.
///
/// The owner of the connection owns it, and must not release it during a call of its events.
/// Confined to one thread.
package final class H2Session {
    package enum Role: Sendable {
        case client, server
    }

    /// Why the connection cannot continue.
    package enum Failure: Sendable, Equatable {
        /// The abuse budget is used up.
        case flood
        /// The peer does not read the acknowledgements that it requested.
        case unreadAcknowledgements
        /// A header block of too many frames.
        case tooManyContinuations
        /// A header block that is much larger than the limit, once it is decoded.
        case headTooLarge
        /// A frame that is malformed, and that nghttp2 does not detect.
        case invalidFrame
        /// A server pushed a response.
        case push
        /// Bytes that are not HTTP/2, or no memory.
        case engine(Int)
    }

    package let role: Role
    package let limits: H2Limits
    /// Set by the owner at once, before any other call.
    package unowned var events: (any H2SessionEvents)?
    let raw: OpaquePointer
    private let memory: EngineMemory

    /// Why no more input is read; the last frame says so to the peer where that is possible.
    package internal(set) var failure: Failure?
    /// The open streams, each at the index that it stores.
    package internal(set) var streams: [H2Stream] = []
    /// Bytes of all streams that wait to be sent.
    package internal(set) var queuedBytes = 0
    /// Whether a header block has begun that is not complete.
    package var isInHeaderBlock: Bool { blockProgress.isInBlock }

    /// The block that is being received.
    var block: HeaderBlock
    private var blockProgress: BlockProgress
    var hasReceivedGoAway = false
    var budget = AbuseBudget()
    /// Of a server's session.
    var clientIDs = ClientStreamIDs()
    /// The first SETTINGS of a server are not written yet.
    var mustAnnounceStreams: Bool
    /// The peer has acknowledged SETTINGS, so it knows the limit of streams.
    var isLimitKnown = false
    /// Of the present call.
    var now: Instant
    var vector = FieldVector()
    /// nghttp2 is receiving or sending, further up the call stack.
    private var isReceiving = false
    private var isSending = false
    /// A PING follows the next GOAWAY.
    var mustPing = false
    /// Bytes that may still be written in the present call of `writePending`.
    var writeRoom = 0
    /// What happened while frames were sent; reported afterwards.
    var sendingEvents: [SendingEvent] = []

    enum SendingEvent {
        case drained(H2Stream)
        case low(H2Stream)
        case ended(H2Stream)
        case closed(H2Stream, H2Code)
    }

    /// Nil if memory is short.
    package init?(_ role: Role, _ limits: H2Limits, at now: Instant) {
        self.role = role
        self.limits = limits
        self.now = now
        block = HeaderBlock(limits.heads)
        blockProgress = BlockProgress(role)
        mustAnnounceStreams = role == .server
        memory = EngineMemory()
        guard let raw = Engine.makeSession(role, limits, memory) else { return nil }
        self.raw = raw
        nghttp2_session_set_user_data(raw, Unmanaged.passUnretained(self).toOpaque())
        submitSettings()
    }

    deinit {
        // The handlers hold their streams.
        for stream in streams { stream.handler = nil }
        nghttp2_session_del(raw)
    }

    /// The memory of the session and of what it will send, in bytes.
    package var memoryBytes: Int { memory.bytes + block.memoryBytes + queuedBytes }

    /// The same after the end of a session: for tests, which find leaks by it.
    package var engineMemory: EngineMemory { memory }

    private func submitSettings() {
        var settings: [nghttp2_settings_entry] = []
        func add(_ id: nghttp2_settings_id, _ value: Int) {
            settings.append(
                nghttp2_settings_entry(
                    settings_id: Int32(id.rawValue), value: UInt32(clamping: value)))
        }
        // `writeFrame` adds the limit of streams.
        if role == .client { add(NGHTTP2_SETTINGS_ENABLE_PUSH, 0) }
        if role == .server, limits.acceptsExtendedConnect {
            add(NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 1)
        }
        add(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, limits.streamWindow)
        add(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, limits.heads.headerBytes)
        // RFC 9113 5.3.2: the priorities of RFC 7540 are ignored.
        add(NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1)
        nghttp2_submit_settings(raw, UInt8(NGHTTP2_FLAG_NONE.rawValue), settings, settings.count)
        nghttp2_session_set_local_window_size(
            raw, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, Int32(clamping: limits.connectionWindow))
    }

    // MARK: Bytes

    /// Reads frames from received bytes, and calls the events.
    package func receive(_ bytes: Span<UInt8>, at now: Instant) {
        guard failure == nil, !isReceiving, !isSending else { return }
        self.now = now
        blockProgress.read(bytes)
        guard blockProgress.mostContinuations <= limits.continuations else {
            _ = endConnection(.tooManyContinuations, .enhanceYourCalm)
            return
        }
        isReceiving = true
        let result = bytes.withUnsafeBufferPointer { buffer in
            nghttp2_session_mem_recv(raw, buffer.baseAddress, buffer.count)
        }
        isReceiving = false
        if result < 0 { endAfterError(result) }
    }

    /// nghttp2 cannot continue to read. It may still send why.
    private func endAfterError(_ code: Int) {
        guard failure == nil else { return }
        switch nghttp2_error(CInt(truncatingIfNeeded: code)) {
        case NGHTTP2_ERR_FLOODED:
            failure = .unreadAcknowledgements
            terminate(.enhanceYourCalm)
        default: failure = .engine(code)
        }
    }

    /// Whether there are frames to write.
    package var wantsWrite: Bool { nghttp2_session_want_write(raw) != 0 }

    /// Whether the connection has nothing more to read or to write, and can be closed.
    package var isFinished: Bool {
        if case .engine? = failure { return true }
        return nghttp2_session_want_read(raw) == 0 && !wantsWrite
    }

    /// Passes frames to `writeFrames` until there are none or that many bytes are written; the last
    /// frame may exceed the limit.
    ///
    /// - Returns: whether anything was written.
    @discardableResult
    package func writePending(atMost limit: Int, at now: Instant) -> Bool {
        guard !isReceiving, !isSending else { return false }
        self.now = now
        writeRoom = limit
        repeat {
            isSending = true
            sendFrames()
            isSending = false
            // The events may cause more frames.
        } while reportSending() && writeRoom > 0
        return writeRoom < limit
    }

    private func sendFrames() {
        while writeRoom > 0 {
            var start: UnsafePointer<UInt8>?
            let count = nghttp2_session_mem_send(raw, &start)
            if count < 0 {
                if failure == nil { failure = .engine(count) }
                return
            }
            // No more frames, or no more room.
            guard count > 0 else { return }
            writeFrame(UnsafeBufferPointer(start: start, count: count).span)
            writeRoom -= count
        }
    }

    /// Reports what happened while frames were sent; false if nothing did.
    private func reportSending() -> Bool {
        guard !sendingEvents.isEmpty else { return false }
        let happened = sendingEvents
        sendingEvents.removeAll(keepingCapacity: true)
        for event in happened {
            switch event {
            case .drained(let stream) where stream.isOpen: stream.handler?.outputDrained()
            case .low(let stream): stream.handler?.outputLow()
            case .drained: break
            case .ended(let stream):
                if role == .server { budget.responseDelivered() }
                stream.handler?.outputEnded()
            case .closed(let stream, let code): reportClosed(stream, code)
            }
        }
        return true
    }

    // MARK: Streams

    /// A new stream of the peer, or of this side.
    func addStream(_ id: Int32) -> H2Stream {
        let stream = H2Stream(id, index: streams.count, at: now)
        streams.append(stream)
        nghttp2_session_set_stream_user_data(
            raw, id, Unmanaged.passUnretained(stream).toOpaque())
        shareOutput(with: stream)
        return stream
    }

    /// Streams take turns, whatever priorities the client has stated (RFC 9113 5.3.2): a long
    /// response must not delay all others.
    private func shareOutput(with stream: H2Stream) {
        var priority = nghttp2_extpri(
            urgency: UInt32(NGHTTP2_EXTPRI_DEFAULT_URGENCY), inc: 1)
        nghttp2_session_change_extpri_stream_priority(raw, stream.id, &priority, 1)
    }

    /// The stream with that id; nil if nothing was reported of it, or if it is closed.
    func stream(_ id: Int32) -> H2Stream? {
        nghttp2_session_get_stream_user_data(raw, id).map {
            Unmanaged<H2Stream>.fromOpaque($0).takeUnretainedValue()
        }
    }

    /// nghttp2 has closed a stream: removes it, and reports that unless frames are being sent.
    func removeStream(_ stream: H2Stream, _ code: H2Code) {
        guard stream.isOpen else { return }
        stream.isOpen = false
        queuedBytes -= stream.outgoing.count
        stream.outgoing.removeAll()
        let last = streams.removeLast()
        if last !== stream {
            streams[stream.index] = last
            last.index = stream.index
        }
        if isSending {
            sendingEvents.append(.closed(stream, code))
        } else {
            reportClosed(stream, code)
        }
    }

    private func reportClosed(_ stream: H2Stream, _ code: H2Code) {
        let handler = stream.handler.take()
        handler?.streamClosed(code, isReset: code != .noError)
    }

    /// The streams that a client may have open at once. 100 until the first SETTINGS of the peer.
    package var peerStreamsMax: Int {
        Int(nghttp2_session_get_remote_settings(raw, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS))
    }

    /// Whether the peer has broken the protocol, so that no response of this connection can arrive
    /// any more. After some faults that is known only when GOAWAY was written.
    package var isBroken: Bool {
        if failure != nil { return true }
        guard nghttp2_session_want_read(raw) == 0 else { return false }
        return !hasReceivedGoAway || streams.contains { $0.hasSentHead }
    }

    /// The peer takes no more streams: those that it does not know end, refused.
    func resetUnsentStreams() {
        guard role == .client else { return }
        for stream in streams where !stream.hasSentHead { reset(stream, .refusedStream) }
    }

    // MARK: Flow control

    /// Returns credit for received bytes: to the connection, and to the stream if that is open.
    package func didConsume(_ count: Int, on stream: H2Stream) {
        guard count > 0 else { return }
        nghttp2_session_consume(raw, stream.id, count)
    }

    /// Returns credit to the connection only, so that the peer sends no more on the stream.
    package func didDiscard(_ count: Int) {
        guard count > 0 else { return }
        nghttp2_session_consume_connection(raw, count)
    }

    /// Returns credit to the stream only, whose connection has it already.
    package func didTake(_ count: Int, on stream: H2Stream) {
        guard count > 0, stream.isOpen else { return }
        nghttp2_session_consume_stream(raw, stream.id, count)
    }

    /// Lets the peer send more on a stream before this side has consumed it.
    package func growWindow(of stream: H2Stream, to bytes: Int) {
        guard stream.isOpen else { return }
        nghttp2_session_set_local_window_size(
            raw, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream.id, Int32(clamping: bytes))
    }

    // MARK: End

    /// GOAWAY with the highest id, and a PING: the peer should open no more streams; those that it
    /// opened before it acknowledges the PING are served (RFC 9113 6.8).
    package func announceShutdown() {
        mustPing = true
        nghttp2_submit_shutdown_notice(raw)
    }

    /// GOAWAY with the last stream that is served. The streams end, then `isFinished` is true.
    package func shutDown(_ code: H2Code = .noError) {
        nghttp2_submit_goaway(
            raw, UInt8(NGHTTP2_FLAG_NONE.rawValue), nghttp2_session_get_last_proc_stream_id(raw),
            code.number, nil, 0)
    }

    /// GOAWAY, after which nothing is read and only this frame is written.
    package func terminate(_ code: H2Code) {
        nghttp2_session_terminate_session(raw, code.number)
    }

    package func sendPing() {
        nghttp2_submit_ping(raw, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil)
    }
}
