import CUV
import Reactor

/// A connected TCP or unix socket on a libuv loop; see `ByteStream` for the contract.
///
/// Reading passes the loop's one read buffer to the delegate. Small writes are buffered until the
/// loop iteration ends; a large one is offered to the kernel at once, head and body as one buffer
/// list. One request at a time sends what the kernel does not take, while later writes are queued.
final class UVStream: HandleOwner, ByteStream, FailingStream {
    private let loop: UVLoop
    private var handle: Handle<uv_stream_t>?
    var delegateState = StreamDelegateState()
    private var isPaused = false
    /// Whether libuv reads. It continues to do so while reading is paused, until bytes arrive: most
    /// pauses end before, and stopping and starting again costs two system calls.
    private var isReading = false
    /// What is watched while reading is paused.
    private var watched = TRIBUTARY_WATCHED_NOTHING
    private var hasEnded = false
    private var isFinished = false
    /// The kernel refused a write.
    private var hasFailedOffer = false
    /// Why a write failed; reported when what was received before is delivered.
    private var writeFailure: IOFailure?
    /// Bytes that the kernel had not taken then.
    private var lostBytes = 0

    /// Written in this loop iteration, and offered to the kernel at its end.
    private var buffered: OutgoingBytes?
    /// The delegate writes at the end of this loop iteration.
    private var callsDelegateAtFlush = false

    /// Whether libuv has a write request; `queued` is what was written since.
    private var isSending = false
    /// The size of that request. libuv does not count it any more when it reports its failure.
    private var sendingBytes = 0
    private var queued: OutgoingBytes?

    let peer: SocketAddress?

    init(_ handle: consuming Handle<uv_stream_t>, on loop: UVLoop, peer: SocketAddress?) {
        self.loop = loop
        self.peer = peer
        self.handle = consume handle
        super.init()
        self.handle?.setOwner(self)
    }

    deinit { delegateState.cancelFailure() }

    private var raw: UnsafeMutablePointer<uv_stream_t>? { handle?.raw }

    /// The loop closes: reports that to the delegate as a failure.
    override func abandon() {
        fail(.cancelled)
        // No timer runs any more that could report it to a later delegate.
        delegateState.cancelFailure()
    }

    // MARK: Reading

    func startReading(for delegate: any ByteStreamDelegate) {
        if setDelegate(delegate, isOpen: raw != nil, on: loop), !isPaused { beginReading() }
    }

    func replaceDelegate(with delegate: any ByteStreamDelegate) {
        _ = delegateState.replace(with: delegate)
    }

    func pauseReading() {
        if raw != nil { isPaused = true }
    }

    /// Bytes arrived while reading is paused: they stay in the kernel.
    private func stopReading() {
        guard let raw else { return }
        isReading = false
        let code = tributary_uv_read_stop(raw)
        if code < 0 {
            handle = nil  // otherwise it would continue to read
            fail(IOFailure(uv: Int(code)))
        }
    }

    func resumeReading() {
        guard raw != nil, isPaused else { return }
        isPaused = false
        watch(TRIBUTARY_WATCHED_NOTHING)
        if delegateState.hasStarted { beginReading() }
        if writeFailure != nil { reportWriteFailure(after: 2) }
    }

    func watchForEnd() {
        if isPaused, delegateState.hasStarted, !hasEnded { watch(TRIBUTARY_WATCHED_END) }
    }

    private func watch(_ wanted: tributary_watched) {
        guard let raw, watched != wanted, let watch = loop.endWatch else { return }
        watched = watch.watch(raw, watched, wanted)
    }

    /// Each event ends the watch of this kind. Behind the end of the peer's data the connection may
    /// still be lost.
    func peerEnded(_ end: PendingEnd) {
        loop.beginCallback()
        guard isPaused else { return }
        if case .finished = end { watch(TRIBUTARY_WATCHED_LOSS) }
        delegateState.delegate?.streamEndPending(end)
        loop.finishCallback()
    }

    private func beginReading() {
        // libuv would report the end again.
        guard let raw, !hasEnded, !isReading else { return }
        isReading = true
        let code = tributary_uv_read_start(
            raw,
            { handle, _, buffer in
                // Without a buffer libuv reads nothing, and calls back with `UV_ENOBUFS`.
                HandleOwner.withBorrowedOwner(of: handle, as: UVStream.self) { stream in
                    buffer?.pointee = stream.isPaused ? uv_buf_t() : stream.loop.readBuffer
                }
            },
            { handle, count, buffer in
                guard let stream = HandleOwner.owner(of: handle, as: UVStream.self) else { return }
                stream.didRead(count, buffer?.pointee.base)
            })
        if code < 0 {
            isReading = false
            failLater(code)
        }
    }

    private func didRead(_ count: Int, _ start: UnsafeMutablePointer<CChar>?) {
        loop.beginCallback()
        if count == Int(UV_ENOBUFS.rawValue), isPaused {
            stopReading()
        } else if count > 0, let start {
            let bytes = UnsafeRawBufferPointer(start: start, count: count)
            delegateState.delegate?.streamReceived(bytes.bindMemory(to: UInt8.self).span)
        } else if count == Int(UV_EOF.rawValue) {
            didEnd(start)
        } else if count < 0 {
            fail(IOFailure(uv: count))
        }
        loop.finishCallback()
    }

    /// The peer sends no more.
    ///
    /// Without a buffer libuv has not read the end: it saw that the connection is closed in both
    /// directions, which a reset is as well.
    private func didEnd(_ buffer: UnsafeMutablePointer<CChar>?) {
        if buffer == nil, let raw {
            let code = tributary_peek_end(raw)
            guard code == 0 else { return fail(IOFailure(uv: code)) }
        }
        // The write took the reset, which was not behind the end of the peer's data.
        if let writeFailure, writeFailure == .connectionReset { return fail(writeFailure) }
        hasEnded = true
        delegateState.delegate?.streamEnded()
    }

    // MARK: Writing

    func write(_ head: Span<UInt8>, _ body: Span<UInt8>) {
        let count = head.count + body.count
        guard raw != nil, count > 0, !isFinished, delegateState.failureTimer == nil else { return }
        if isSending { return queue(head, body) }
        if bufferWrite(head, body, count) { return }
        offerBuffered()
        if delegateState.failureTimer == nil { isSending ? queue(head, body) : offer(head, body) }
    }

    /// Buffers a small write until the end of the iteration; false if the buffer would exceed its
    /// limit.
    private func bufferWrite(_ head: Span<UInt8>, _ body: Span<UInt8>, _ count: Int) -> Bool {
        if let buffered {
            guard buffered.count + count <= WriteBuffering.bytesMax else { return false }
            buffered.append(head, body)
        } else {
            guard count <= WriteBuffering.bytesMax else { return false }
            let bytes = loop.bufferedStreams.add(self)
            bytes.append(head, body)
            buffered = bytes
        }
        return true
    }

    /// Offers the buffered writes to the kernel.
    ///
    /// - Returns: whether some of them are unsent.
    @discardableResult
    func offerBuffered() -> Bool {
        guard let raw, let bytes = buffered.take() else { return false }
        if bytes.count == 0 {
            loop.bufferedStreams.reuse(consume bytes)
            return false
        }
        var buffer = bytes.buffer
        let result = Int(tributary_uv_try_write(raw, &buffer, 1))
        if result == bytes.count {
            loop.bufferedStreams.reuse(consume bytes)
            return false
        }
        guard result >= 0 || result == UV_EAGAIN.rawValue else {
            hasFailedOffer = true
            failLater(CInt(result))
            return false
        }
        bytes.removeFirst(max(result, 0))
        queued = bytes
        sendQueued()
        return delegateState.failureTimer == nil
    }

    func flushSoon() {
        guard raw != nil, !callsDelegateAtFlush else { return }
        callsDelegateAtFlush = true
        // An empty buffer puts the stream into the list of those that are flushed.
        if buffered == nil { buffered = loop.bufferedStreams.add(self) }
    }

    /// Called at the end of the iteration, outside of any call of the user.
    func flushAtEndOfIteration() {
        if callsDelegateAtFlush {
            callsDelegateAtFlush = false
            delegateState.delegate?.streamFlushes()
        }
        if offerBuffered() { delegateState.delegate?.streamBlocked() }
        // Requested meanwhile, when the stream was in the list already.
        if callsDelegateAtFlush, raw != nil, buffered == nil {
            buffered = loop.bufferedStreams.add(self)
        }
    }

    private func offer(_ head: Span<UInt8>, _ body: Span<UInt8>) {
        guard let raw else { return }
        let result = tryWrite(raw, head, body)
        if result == head.count + body.count { return }
        guard result >= 0 || result == UV_EAGAIN.rawValue else {
            hasFailedOffer = true
            return failLater(CInt(result))
        }
        let taken = max(result, 0)
        let fromHead = min(taken, head.count)
        queue(
            head.extracting(droppingFirst: fromHead),
            body.extracting(droppingFirst: taken - fromHead))
        sendQueued()
    }

    private func queue(_ head: Span<UInt8>, _ body: Span<UInt8>) {
        let bytes = queued ?? OutgoingBytes(capacity: head.count + body.count)
        bytes.append(head)
        bytes.append(body)
        queued = bytes
    }

    private func sendQueued() {
        guard let raw, let bytes = queued.take() else { return }
        isSending = true
        sendingBytes = bytes.count
        let code = UVRequest<uv_write_t, OutgoingBytes>.submit(bytes) { request in
            var buffer = bytes.buffer
            return tributary_uv_write(request, raw, &buffer, 1) { request, status in
                let stream = HandleOwner.owner(of: request?.pointee.handle, as: UVStream.self)
                UVRequest<uv_write_t, OutgoingBytes>.finish(request)
                stream?.didWrite(status)
            }
        }
        if code < 0 { failLater(code) }
    }

    private func didWrite(_ status: CInt) {
        loop.beginCallback()
        isSending = false
        if status < 0 {
            lostBytes = sendingBytes + (queued?.count ?? 0)
            queued = nil
            failLater(status)
        } else if queued != nil {
            sendQueued()
        } else {
            if isFinished { shutDown() }
            delegateState.delegate?.streamDrained()
        }
        loop.finishCallback()
    }

    var hasOfferedAll: Bool { buffered == nil && !hasFailedOffer }

    func discardBuffered() {
        if let bytes = buffered.take() { loop.bufferedStreams.reuse(consume bytes) }
    }

    var unsentBytes: Int {
        guard let raw else { return delegateState.droppedBytes }
        return uv_stream_get_write_queue_size(raw) + (queued?.count ?? 0) + lostBytes
    }

    var unacknowledgedBytes: Int { raw.map { Int(tributary_unacknowledged($0)) } ?? 0 }

    // MARK: Ending

    func finishWriting() {
        guard raw != nil, !isFinished else { return }
        offerBuffered()
        isFinished = true
        if !isSending, delegateState.failureTimer == nil { shutDown() }
    }

    private func shutDown() {
        guard let raw else { return }
        let code = UVRequest<uv_shutdown_t, Void>.submit(()) { request in
            tributary_uv_shutdown(request, raw) { request, status in
                let stream = HandleOwner.owner(of: request?.pointee.handle, as: UVStream.self)
                UVRequest<uv_shutdown_t, Void>.finish(request)
                stream?.didShutDown(status)
            }
        }
        if code < 0 { failLater(code) }
    }

    private func didShutDown(_ status: CInt) {
        loop.beginCallback()
        if status < 0 { failLater(status) }
        loop.finishCallback()
    }

    func close() {
        offerBuffered()
        queued = nil
        handle = nil
        delegateState.cancelFailure()
        _ = delegateState.takeDelegate()
    }

    func reset() {
        offerBuffered()
        if let raw { tributary_reset_at_close(raw) }
        close()
    }

    /// Reports a failed write, or a failure that a call of the user found. Received data is delivered first: a
    /// backend may respond early and close.
    private func failLater(_ code: CInt) {
        guard delegateState.failureTimer == nil else { return }
        writeFailure = IOFailure(uv: code)
        reportWriteFailure(after: 2)
    }

    /// Reports the failed write when nothing was to be read in so many iterations; in the last one, libuv has
    /// seen the end of the peer's data, if there is one. While reading is paused, only a delegate that reads
    /// on after a failed write lets the failure wait.
    private func reportWriteFailure(after iterations: Int) {
        delegateState.failureTimer = loop.timer(after: .zero) { [weak self] in
            guard let self, let raw, let writeFailure else { return }
            if delegateState.hasStarted, !hasEnded {
                if isPaused, delegateState.delegate?.readsAfterFailedWrite ?? false { return }
                if !isPaused, isReading, tributary_has_unread(raw) == 1 {
                    return reportWriteFailure(after: 2)
                }
            }
            iterations > 1 ? reportWriteFailure(after: iterations - 1) : fail(writeFailure)
        }
    }
}

/// Offers both spans to the kernel; returns the number of bytes that it took, or a negative code.
private func tryWrite(
    _ raw: UnsafeMutablePointer<uv_stream_t>, _ head: Span<UInt8>, _ body: Span<UInt8>
) -> Int {
    head.withUnsafeBufferPointer { head in
        body.withUnsafeBufferPointer { body in
            if body.isEmpty {
                var buffer = uv_buf_t(reading: head)
                return Int(tributary_uv_try_write(raw, &buffer, 1))
            }
            var buffers = (uv_buf_t(reading: head), uv_buf_t(reading: body))
            return withUnsafeBytes(of: &buffers) { list in
                Int(
                    tributary_uv_try_write(
                        raw, list.assumingMemoryBound(to: uv_buf_t.self).baseAddress, 2))
            }
        }
    }
}

extension uv_buf_t {
    /// Bytes that libuv only reads, although the type is mutable.
    fileprivate init(reading bytes: UnsafeBufferPointer<UInt8>) {
        let start = UnsafeMutableRawPointer(mutating: bytes.baseAddress)
        self.init(base: start?.assumingMemoryBound(to: CChar.self), len: bytes.count)
    }
}
