import CUV
import Reactor

/// A connected TCP or unix socket on a libuv loop; see `ByteStream` for the contract.
///
/// Reading hands the loop's one read buffer to the delegate. Small writes gather until the pass ends;
/// a large one is offered to the kernel at once, head and body as one buffer list. What the kernel
/// leaves is sent by one request at a time, while later writes wait behind it.
final class UVStream: HandleOwner, ByteStream, FailingStream {
    private let loop: UVLoop
    /// This and the others below are looked at with every read and write. Unchecked, since no access
    /// calls anybody: closing a handle only tells libuv, which calls back later.
    @exclusivity(unchecked) private var handle: Handle<uv_stream_t>?
    /// Unchecked like the others: its delegate is let go of outside of any access.
    @exclusivity(unchecked) var user = StreamUser()
    private var isPaused = false
    private var hasEnded = false
    private var isFinished = false
    /// The kernel took nothing of a write, and never will.
    private var hasFailedOffer = false

    /// Written in this pass of the loop, and offered to the kernel at its end.
    @exclusivity(unchecked) private var gathered: OutgoingBytes?

    /// One request is with libuv; `waiting` is what was written since.
    @exclusivity(unchecked) private var isSending = false
    @exclusivity(unchecked) private var waiting: OutgoingBytes?

    /// The other side's address, once asked for; the inner nil says that there is none.
    private var knownPeer: SocketAddress??

    init(_ handle: consuming Handle<uv_stream_t>, on loop: UVLoop) {
        self.loop = loop
        self.handle = consume handle
        super.init()
        self.handle?.setOwner(self)
    }

    deinit { user.forgetFailure() }

    private var raw: UnsafeMutablePointer<uv_stream_t>? { handle?.raw }

    /// The loop closes: the delegate learns that the connection is gone, as of any other failure.
    override func abandon() {
        fail(.cancelled)
        // No timer runs any more that could report it to a delegate that starts now.
        user.forgetFailure()
    }

    // MARK: Reading

    func start(_ delegate: any ByteStreamDelegate) {
        if begin(with: delegate, isOpen: raw != nil, on: loop), !isPaused { beginReading() }
    }

    func pauseReading() {
        guard let raw, !isPaused else { return }
        isPaused = true
        guard user.hasStarted else { return }
        let code = tributary_uv_read_stop(raw)
        if code < 0 {
            handle = nil  // it would read on
            failLater(code)
        }
    }

    func resumeReading() {
        guard raw != nil, isPaused else { return }
        isPaused = false
        if user.hasStarted { beginReading() }
    }

    private func beginReading() {
        // libuv would tell the end once more.
        guard let raw, !hasEnded else { return }
        let code = tributary_uv_read_start(
            raw,
            { handle, _, buffer in
                guard let loop = UVLoop.of(handle?.pointee.loop) else { return }
                buffer?.pointee = loop.readBuffer
            },
            { handle, count, buffer in
                guard let stream = HandleOwner.owner(of: handle, as: UVStream.self) else { return }
                stream.didRead(count, buffer?.pointee.base)
            })
        if code < 0, code != UV_EALREADY.rawValue { failLater(code) }
    }

    private func didRead(_ count: Int, _ start: UnsafeMutablePointer<CChar>?) {
        if count > 0, let start {
            let bytes = UnsafeRawBufferPointer(start: start, count: count)
            user.delegate?.streamReceived(bytes.bindMemory(to: UInt8.self).span)
        } else if count == Int(UV_EOF.rawValue) {
            hasEnded = true
            user.delegate?.streamEnded()
        } else if count < 0 {
            fail(IOFailure(uv: count))
        }
        loop.finishCallback()
    }

    // MARK: Writing

    func write(_ head: Span<UInt8>, _ body: Span<UInt8>) {
        let count = head.count + body.count
        guard raw != nil, count > 0, !isFinished, user.failing == nil else { return }
        if isSending { return hold(head, body) }
        if gather(head, body, count) { return }
        offerGathered()
        if user.failing == nil { isSending ? hold(head, body) : offer(head, body) }
    }

    /// Keeps a small write for the end of the pass; false if it would be too much by then.
    private func gather(_ head: Span<UInt8>, _ body: Span<UInt8>, _ count: Int) -> Bool {
        guard (gathered?.count ?? 0) + count <= StreamGathering.bytesMax else { return false }
        let bytes: OutgoingBytes
        if let gathered {
            bytes = gathered
        } else {
            bytes = loop.gathering.begin(self)
            gathered = bytes
        }
        bytes.append(head)
        bytes.append(body)
        return true
    }

    /// Offers the kernel what was gathered.
    ///
    /// - Returns: whether some of it has to wait.
    @discardableResult
    func offerGathered() -> Bool {
        guard let raw, let bytes = gathered.take() else { return false }
        var buffer = bytes.buffer
        let result = Int(tributary_uv_try_write(raw, &buffer, 1))
        if result == bytes.count {
            loop.gathering.reuse(bytes)
            return false
        }
        guard result >= 0 || result == UV_EAGAIN.rawValue else {
            hasFailedOffer = true
            failLater(CInt(result))
            return false
        }
        bytes.removeFirst(max(result, 0))
        waiting = bytes
        sendWaiting()
        return user.failing == nil
    }

    /// At the end of the pass, outside of any call of the user's.
    func passEnds() {
        if offerGathered() { user.delegate?.streamBlocked() }
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
        hold(
            head.extracting(droppingFirst: fromHead),
            body.extracting(droppingFirst: taken - fromHead))
        sendWaiting()
    }

    private func hold(_ head: Span<UInt8>, _ body: Span<UInt8>) {
        let bytes = waiting ?? OutgoingBytes(capacity: head.count + body.count)
        bytes.append(head)
        bytes.append(body)
        waiting = bytes
    }

    private func sendWaiting() {
        guard let raw, let bytes = waiting.take() else { return }
        isSending = true
        let code = Request<uv_write_t, OutgoingBytes>.start(bytes) { request in
            var buffer = bytes.buffer
            return tributary_uv_write(request, raw, &buffer, 1) { request, status in
                let stream = HandleOwner.owner(of: request?.pointee.handle, as: UVStream.self)
                Request<uv_write_t, OutgoingBytes>.finish(request)
                stream?.didWrite(status)
            }
        }
        if code < 0 { failLater(code) }
    }

    private func didWrite(_ status: CInt) {
        isSending = false
        if status < 0 {
            fail(IOFailure(uv: status))
        } else if waiting != nil {
            sendWaiting()
        } else {
            if isFinished { shutDown() }
            user.delegate?.streamDrained()
        }
        loop.finishCallback()
    }

    var hasOfferedAll: Bool { gathered == nil && !hasFailedOffer }

    func discardGathered() {
        if let bytes = gathered.take() { loop.gathering.reuse(bytes) }
    }

    var unsentBytes: Int {
        guard let raw else { return 0 }
        return uv_stream_get_write_queue_size(raw) + (waiting?.count ?? 0)
    }

    // MARK: Ending

    func finishWriting() {
        guard raw != nil, !isFinished else { return }
        offerGathered()
        isFinished = true
        if !isSending, user.failing == nil { shutDown() }
    }

    private func shutDown() {
        guard let raw else { return }
        let code = Request<uv_shutdown_t, Void>.start(()) { request in
            tributary_uv_shutdown(request, raw) { request, status in
                let stream = HandleOwner.owner(of: request?.pointee.handle, as: UVStream.self)
                Request<uv_shutdown_t, Void>.finish(request)
                stream?.didShutDown(status)
            }
        }
        if code < 0 { failLater(code) }
    }

    private func didShutDown(_ status: CInt) {
        if status < 0 { fail(IOFailure(uv: status)) }
        loop.finishCallback()
    }

    func close() {
        offerGathered()
        waiting = nil
        handle = nil
        user.forgetFailure()
        _ = user.leave()
    }

    /// For failures found inside a call of the user's: the delegate hears of them in two passes, so
    /// that what has arrived is read first: a backend may answer early and close.
    private func failLater(_ code: CInt) {
        guard user.failing == nil else { return }
        user.failing = loop.timer(after: .zero) { [weak self] in
            guard let self else { return }
            user.failing = loop.timer(after: .zero) { [weak self] in
                self?.fail(IOFailure(uv: code))
            }
        }
    }

    // MARK: Addresses

    var peer: SocketAddress? {
        if let knownPeer { return knownPeer }
        let address = raw.flatMap { peerAddress(of: $0) }
        knownPeer = .some(address)
        return address
    }
}

/// What the kernel took at once of both runs of bytes, or a negative code.
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

private func peerAddress(of raw: UnsafeMutablePointer<uv_stream_t>) -> SocketAddress? {
    guard raw.pointee.type == UV_TCP else { return nil }
    let address = SocketAddress { storage in
        var length = CInt(MemoryLayout<sockaddr_storage>.size)
        return tributary_uv_tcp_getpeername(
            raw.cast(to: uv_tcp_t.self), storage.cast(to: sockaddr.self), &length)
    }
    return address?.unmapped
}

extension uv_buf_t {
    /// Bytes that libuv only reads, although its type cannot say so.
    fileprivate init(reading bytes: UnsafeBufferPointer<UInt8>) {
        let start = UnsafeMutableRawPointer(mutating: bytes.baseAddress)
        self.init(base: start?.assumingMemoryBound(to: CChar.self), len: bytes.count)
    }
}
