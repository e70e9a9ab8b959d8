import Basics
import Promises
import Reactor

/// Carries bytes between a stream and an engine, first to agree with the other side, then for the
/// user of the secure stream.
///
/// The stream below holds it until it is closed.
final class TLSChannel: FailingStream {
    let inner: any ByteStream
    private let engine: TLSEngine
    private let loop: any Loop

    private var handshake: TLSHandshake?
    var delegateState = StreamDelegateState()
    private var isOpen = false
    private var isClosed = false
    private var isPaused = false
    private var isFinished = false
    /// What gathered was discarded.
    private var isBroken = false
    /// The user has written, and the stream below had not offered all of it when last looked at.
    private var hasUnoffered = false
    /// The stream below ended: nothing more arrives.
    private var hasInnerEnded = false
    private var hasReportedEnd = false

    /// Bytes that arrived before the consumer reads: the next event reads them.
    private var reading: Timer?

    /// So much is taken in, or sent, at once, which bounds what the engine keeps in memory.
    private static let sliceBytes = 4 * TLSEngine.recordBytesMax

    init(over inner: any ByteStream, _ engine: TLSEngine, on loop: any Loop) {
        self.inner = inner
        self.engine = engine
        self.loop = loop
    }

    // MARK: Handshake

    /// Begins to agree with the other side.
    func startHandshake(_ handshake: consuming TLSHandshake) {
        self.handshake = consume handshake
        inner.startReading(for: self)
        continueHandshake()
    }

    private func continueHandshake() {
        switch engine.continueHandshake() {
        case .needsMore: flush()
        case .done:
            isOpen = true
            // There is no reader yet. Bytes that arrived with the end of the handshake stay in the
            // engine.
            inner.pauseReading()
            flush()
            handshake.take()?.succeed(self)
        case .failed(let failure): failHandshake(failure)
        }
    }

    private func failHandshake(_ failure: IOFailure) {
        let handshake = handshake.take()
        flush()  // an alert with the reason
        close()
        handshake?.fail(failure)
    }

    // MARK: Reading

    func startReading(for delegate: any ByteStreamDelegate) {
        if setDelegate(delegate, isOpen: !isClosed, on: loop), !isPaused { scheduleDelivery() }
    }

    func pauseReading() {
        guard !isPaused else { return }
        isPaused = true
        if delegateState.hasStarted { inner.pauseReading() }
    }

    func resumeReading() {
        guard isPaused else { return }
        isPaused = false
        if delegateState.hasStarted { scheduleDelivery() }
    }

    /// Lets more arrive, behind what is here already.
    private func scheduleDelivery() {
        guard !isClosed else { return }
        inner.resumeReading()
        guard reading == nil, engine.hasInput || hasInnerEnded else { return }
        reading = loop.timer(after: .zero) { [weak self] in
            self?.reading = nil
            self?.deliver()
        }
    }

    /// Tells the delegate everything that is here, until it wants no more.
    private func deliver() {
        guard delegateState.hasStarted else { return }
        // What OpenSSL writes from here on by itself is not the user's.
        if inner.hasOfferedAll { hasUnoffered = false }
        let size = TLSEngine.recordBytesMax
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: size) { buffer in
            while !isPaused, !isClosed, !hasReportedEnd, deliverNext(buffer) {}
        }
        flush()  // what OpenSSL answered by itself: an alert, new keys
    }

    /// False when no event is left.
    private func deliverNext(_ buffer: UnsafeMutableBufferPointer<UInt8>) -> Bool {
        switch engine.read(into: buffer) {
        case .bytes(let count):
            delegateState.delegate?.streamReceived(
                UnsafeBufferPointer(rebasing: buffer[..<count]).span)
            return true
        case .needsMore where hasInnerEnded:
            // Anyone on the path can close a TCP connection; only the peer can send close_notify.
            fail(.tlsFailed("connection closed without close_notify (truncated)"))
        case .needsMore: break
        case .ended:
            hasReportedEnd = true
            delegateState.delegate?.streamEnded()
        case .failed(let failure): fail(failure)
        }
        return false
    }

    // MARK: Writing

    /// Whether all that the user wrote has been offered to the kernel.
    var hasOfferedAll: Bool { !hasUnoffered || inner.hasOfferedAll }

    /// Of records that buffered none must be missing in front of another: nothing is sent behind
    /// them.
    func discardBuffered() {
        guard hasUnoffered else { return }
        inner.discardBuffered()
        isBroken = true
    }

    func write(_ head: Span<UInt8>, _ body: Span<UInt8>) {
        guard isOpen, !isClosed, !isFinished, !isBroken, delegateState.failureTimer == nil else {
            return
        }
        hasUnoffered = true
        guard encrypt(head, before: body.count), encrypt(body, before: 0) else {
            return failLater(.tlsFailed("cannot write"))
        }
        flush()
    }

    /// So much at a time, but no little rest that would have to gather: a write is offered before
    /// the call returns, or none of it is.
    private func encrypt(_ bytes: Span<UInt8>, before rest: Int) -> Bool {
        var start = 0
        while start < bytes.count {
            let end = min(start + Self.sliceBytes, bytes.count)
            guard engine.write(bytes.extracting(start..<end)) else { return false }
            start = end
            let isMuch = bytes.count - end + rest > WriteBuffering.bytesMax
            if engine.outgoingCount >= Self.sliceBytes, isMuch {
                flush()
                // Some of it left, whatever becomes of the rest.
                if inner.hasOfferedAll { hasUnoffered = false }
            }
        }
        return true
    }

    private func flush() {
        guard !isClosed, !isBroken else { return }
        engine.takeOutgoing { inner.write($0) }
    }

    // MARK: Ending

    func finishWriting() {
        guard isOpen, !isClosed, !isFinished else { return }
        isFinished = true
        engine.shutDown()
        flush()
        inner.finishWriting()
    }

    func close() {
        delegateState.cancelFailure()
        reading.take()?.cancel()
        _ = handshake.take()
        guard !isClosed else { return }
        // Behind bytes that are forgotten now it would mean nothing.
        if inner.unsentBytes == 0 { engine.shutDown() }
        flush()
        isClosed = true
        inner.close()
        _ = delegateState.takeDelegate()
    }

    private func failLater(_ failure: IOFailure) {
        guard delegateState.failureTimer == nil else { return }
        delegateState.failureTimer = loop.timer(after: .zero) { [weak self] in self?.fail(failure) }
    }
}

extension TLSChannel: ByteStreamDelegate {
    func streamReceived(_ bytes: Span<UInt8>) {
        var start = 0
        while start < bytes.count, !isClosed {
            let end = min(start + Self.sliceBytes, bytes.count)
            engine.receive(bytes.extracting(start..<end))
            start = end
            if isOpen { deliver() } else { continueHandshake() }
        }
    }

    func streamEnded() {
        hasInnerEnded = true
        guard isOpen else {
            return failHandshake(.tlsFailed("closed in the middle of the handshake"))
        }
        deliver()
    }

    func streamBlocked() {
        if isOpen { delegateState.delegate?.streamBlocked() }
    }

    func streamDrained() {
        if isOpen { delegateState.delegate?.streamDrained() }
    }

    func streamFailed(_ failure: IOFailure) {
        guard isOpen else { return failHandshake(failure) }
        deliver()
        if !isClosed { fail(failure) }
    }
}
