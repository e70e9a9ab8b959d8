import Basics
import Promises
import Reactor

/// Transfers bytes between a stream and an engine, first for the handshake, then for the user of
/// the TLS stream.
///
/// The inner stream holds it until it is closed.
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
    /// The peer ended the connection without close_notify.
    private var isTruncated = false
    /// Whether buffered records were discarded.
    private var isBroken = false
    /// Whether some encrypted bytes of the user were not offered to the kernel at the last check.
    private var hasUnoffered = false
    /// Written in this loop iteration, and encrypted at its end: at most one record.
    private var plain: [UInt8] = []
    /// The delegate writes at the end of this loop iteration.
    private var callsDelegateAtFlush = false
    /// What is collected now is sent at once.
    private var isFlushing = false
    /// The inner stream ended: no more data arrives.
    private var hasInnerEnded = false
    private var hasReportedEnd = false
    /// Why the inner stream failed.
    private var innerFailure: IOFailure?

    /// Delivers bytes that arrived before the delegate read.
    private var reading: Timer?

    /// Of the handshake of a server; nil for a client, and afterwards.
    private var progress: HandshakeProgress?
    private var hasBegun = false
    private var isQueued = false
    private var hasReceived = false
    private let isServer: Bool
    /// What the engine holds, as the memory of the loop counts it.
    private(set) var heldBytes = 0

    /// The most bytes that are processed at once, which bounds the memory of the engine.
    private static let sliceBytes = 4 * TLSEngine.recordBytesMax

    /// - Parameter progress: for a server
    init(
        over inner: any ByteStream, _ engine: TLSEngine, on loop: any Loop,
        _ progress: HandshakeProgress? = nil
    ) {
        self.inner = inner
        self.engine = engine
        self.loop = loop
        self.progress = progress
        isServer = progress != nil
    }

    deinit {
        reading?.cancel()
        loop.memory.adjust(by: -heldBytes)
    }

    // MARK: Handshake

    /// Starts the handshake.
    ///
    /// - Parameter received: bytes that a former delegate has read from the inner stream; nil if nothing
    ///   has begun to read it
    func startHandshake(_ handshake: consuming TLSHandshake, after received: Bytes? = nil) {
        self.handshake = consume handshake
        if let received {
            inner.replaceDelegate(with: self)
            if !received.isEmpty { streamReceived(received.span) }
        } else {
            inner.startReading(for: self)
        }
        // A server has nothing to send before the client's first message.
        if !isServer { continueHandshake() }
        updateMemory()
    }

    private func continueHandshake() {
        guard mayBegin() else { return }
        engine.now = loop.now
        let state = engine.continueHandshake()
        if engine.outgoingCount > 0 { recordProgress() }
        switch state {
        case .needsMore: flush()
        case .done:
            isOpen = true
            progress = nil
            flush()
            handshake.take()?.succeed(self)
        case .failed(let failure): failHandshake(failure)
        }
    }

    /// There is something for the client, which costs the server work the first time.
    private func recordProgress() {
        if !hasBegun { progress?.queue.recordBegin() }
        hasBegun = true
        progress?.awaitClient()
    }

    /// Whether the first message of a client may be processed now; if not, the handshake continues
    /// later, and no more is read until then.
    private func mayBegin() -> Bool {
        guard let progress, !hasBegun, !isQueued else { return !isQueued }
        if progress.queue.mayBegin { return true }
        isQueued = true
        inner.pauseReading()
        progress.awaitServer { [weak self] in
            guard let self, !isClosed else { return }
            isQueued = false
            inner.resumeReading()
            continueHandshake()
        }
        return false
    }

    /// Whether a client sends HTTP without TLS, by its first byte: a method, where TLS has the type
    /// of a record (RFC 8446 5.1).
    private func isPlainText(_ bytes: Span<UInt8>) -> Bool {
        defer { hasReceived = true }
        guard progress != nil, !hasReceived, !bytes.isEmpty else { return false }
        return (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(bytes[0])
    }

    /// What the handshake of a server agreed on.
    var session: SecureSession { engine.session }

    var applicationProtocol: String? { engine.applicationProtocol }

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

    func replaceDelegate(with delegate: any ByteStreamDelegate) {
        _ = delegateState.replace(with: delegate)
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

    /// Continues reading, beginning with bytes that have already arrived.
    private func scheduleDelivery() {
        guard !isClosed else { return }
        inner.resumeReading()
        guard reading == nil, engine.hasInput || hasInnerEnded || innerFailure != nil else {
            return
        }
        // Not weak, which would make every retain of this object slower; `deinit` cancels the timer.
        reading = loop.timer(after: .zero) { [unowned self] in
            reading = nil
            deliver()
        }
    }

    /// Delivers everything that has arrived, unless the delegate pauses.
    private func deliver() {
        guard delegateState.hasStarted else { return }
        // Bytes that OpenSSL writes by itself from here on do not count as the user's.
        if inner.hasOfferedAll { hasUnoffered = false }
        // A read also finds the end, for which it needs a buffer that is not empty.
        engine.now = loop.now
        let size = max(1, engine.readBytesMax)
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: size) { buffer in
            while !isPaused, !isClosed, !hasReportedEnd, deliverNext(buffer) {}
        }
        flush()  // responses of OpenSSL itself: alerts, new keys
        reportInnerFailure()
    }

    /// The inner stream has failed, and all that it received is delivered, as far as the delegate wants it.
    private func reportInnerFailure() {
        guard let innerFailure, !isClosed else { return }
        if isPaused, engine.hasInput, readsAfterFailedWrite { return }
        fail(innerFailure)
    }

    /// Delivers one event; false if there is none.
    private func deliverNext(_ buffer: UnsafeMutableBufferPointer<UInt8>) -> Bool {
        switch engine.read(into: buffer) {
        case .bytes(let count):
            delegateState.delegate?.streamReceived(
                UnsafeBufferPointer(rebasing: buffer[..<count]).span)
            // Saves a read that finds nothing.
            return engine.hasInput || hasInnerEnded
        case .needsMore where hasInnerEnded:
            // Anyone on the path can close a TCP connection; only the peer can send close_notify.
            isTruncated = true
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

    var unsentBytes: Int { inner.unsentBytes }
    var unacknowledgedBytes: Int { inner.unacknowledgedBytes }

    /// Whether all bytes of the user were offered to the kernel.
    var hasOfferedAll: Bool { plain.isEmpty && (!hasUnoffered || inner.hasOfferedAll) }

    /// Bytes that are not encrypted yet can be dropped without a trace. After discarding buffered
    /// records, nothing more may be sent: a missing record would break the sequence.
    func discardBuffered() {
        plain = []
        guard hasUnoffered else { return }
        inner.discardBuffered()
        isBroken = true
    }

    /// Collects the small writes of a loop iteration, so that they become one record: a record costs
    /// about 0.7 µs, more than the encryption of a small response.
    func write(_ head: Span<UInt8>, _ body: Span<UInt8>) {
        guard isOpen, !isClosed, !isFinished, !isBroken, delegateState.failureTimer == nil else {
            return
        }
        guard !head.isEmpty || !body.isEmpty else { return }
        if collect(head, body) { return }
        hasUnoffered = true
        guard encryptCollected(), encrypt(head, body) else {
            return failLater(.tlsFailed("cannot write"))
        }
        flush()
        updateMemory()
    }

    func flushSoon() {
        callsDelegateAtFlush = true
        inner.flushSoon()
    }

    /// False if the bytes do not fit into one record together with those that are collected already.
    private func collect(_ head: Span<UInt8>, _ body: Span<UInt8>) -> Bool {
        let count = head.count + body.count
        guard plain.count + count <= TLSEngine.recordBytesMax else { return false }
        if plain.isEmpty {
            plain.reserveCapacity(count)
            if !isFlushing { inner.flushSoon() }
        }
        plain.append(copying: head)
        plain.append(copying: body)
        return true
    }

    /// Encrypts and sends what was collected.
    private func sendCollected() {
        guard !plain.isEmpty, !isBroken, delegateState.failureTimer == nil else { return }
        hasUnoffered = true
        guard encryptCollected() else { return failLater(.tlsFailed("cannot write")) }
        flush()
    }

    /// Encrypts what was collected as one record.
    private func encryptCollected() -> Bool {
        let bytes = plain
        plain = []
        return engine.write(bytes.span)
    }

    /// Encrypts a large write; its head and the beginning of its body are one record.
    private func encrypt(_ head: Span<UInt8>, _ body: Span<UInt8>) -> Bool {
        guard head.count < TLSEngine.recordBytesMax else {
            return encrypt(head, before: body.count) && encrypt(body, before: 0)
        }
        let count = min(TLSEngine.recordBytesMax - head.count, body.count)
        plain.append(copying: head)
        plain.append(copying: body.extracting(..<count))
        return encryptCollected() && encrypt(body.extracting(count...), before: 0)
    }

    /// Encrypts slice by slice, which bounds the memory of the engine. No small rest remains
    /// buffered, so that either all of a write is offered before the call returns, or none of it.
    private func encrypt(_ bytes: Span<UInt8>, before rest: Int) -> Bool {
        var start = 0
        while start < bytes.count {
            let end = min(start + Self.sliceBytes, bytes.count)
            guard engine.write(bytes.extracting(start..<end)) else { return false }
            start = end
            let isMuch = bytes.count - end + rest > WriteBuffering.bytesMax
            if engine.outgoingCount >= Self.sliceBytes, isMuch {
                flush()
                // Some bytes were offered, whatever happens to the rest.
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
        sendCollected()
        isFinished = true
        engine.shutDown()
        flush()
        inner.finishWriting()
    }

    func close() { end(isReset: false) }

    /// Without close_notify, which states that all data was sent (RFC 9112 9.8).
    func reset() { end(isReset: true) }

    private func end(isReset: Bool) {
        delegateState.cancelFailure()
        reading.take()?.cancel()
        _ = handshake.take()
        guard !isClosed else { return }
        if !isFinished { sendCollected() }
        delegateState.cancelFailure()
        // close_notify has no meaning behind dropped bytes. A peer that ended without it has most often
        // closed its socket, which would answer with a reset.
        if !isReset, inner.unsentBytes == 0, !isTruncated { engine.shutDown() }
        flush()
        isClosed = true
        if isReset { inner.reset() } else { inner.close() }
        updateMemory()
        _ = delegateState.takeDelegate()
    }

    // MARK: Memory

    /// Frees what the engine does not need, and counts the rest.
    private func updateMemory() {
        if !isClosed { engine.releaseBuffers() }
        let held = isClosed ? 0 : engine.heldBytes
        let more = held - heldBytes
        guard more != 0 else { return }
        heldBytes = held
        loop.memory.adjust(by: more)
    }

    /// While memory is exhausted, ends a client's connection that holds a part of a record or of a
    /// handshake, since many of them may be an attack.
    private func shedIfExhausted() {
        guard isServer, !isClosed, engine.holdsPart, !loop.memory.hasRoom, !isClosed else { return }
        isOpen ? fail(.outOfMemory) : failHandshake(.outOfMemory)
    }

    private func failLater(_ failure: IOFailure) {
        guard delegateState.failureTimer == nil else { return }
        delegateState.failureTimer = loop.timer(after: .zero) { [weak self] in self?.fail(failure) }
    }
}

extension TLSChannel: ByteStreamDelegate {
    func streamReceived(_ bytes: Span<UInt8>) {
        if isPlainText(bytes) {
            inner.pauseReading()
            handshake.take()?.receivePlainText(
                inner, mayBeHead: AcceptedStream.mayBeHead(bytes))
            return
        }
        // The bytes stay in the engine until there is a delegate. It usually begins to read before
        // they arrive, so that a pause right after the handshake would only cost system calls.
        if isOpen, !delegateState.hasStarted { inner.pauseReading() }
        var start = 0
        while start < bytes.count, !isClosed {
            let end = min(start + Self.sliceBytes, bytes.count)
            engine.receive(bytes.extracting(start..<end))
            start = end
            if isOpen { deliver() } else { continueHandshake() }
        }
        updateMemory()
        shedIfExhausted()
    }

    func streamEnded() {
        hasInnerEnded = true
        guard isOpen else {
            return failHandshake(.tlsFailed("closed in the middle of the handshake"))
        }
        deliver()
    }

    func streamEndPending(_ end: PendingEnd) {
        if isOpen, isPaused { delegateState.delegate?.streamEndPending(end) }
    }

    func streamFlushes() {
        if callsDelegateAtFlush {
            callsDelegateAtFlush = false
            isFlushing = true
            delegateState.delegate?.streamFlushes()
            isFlushing = false
        }
        guard !isClosed else { return }
        sendCollected()
        updateMemory()
    }

    func streamBlocked() {
        if isOpen { delegateState.delegate?.streamBlocked() }
    }

    func streamDrained() {
        if isOpen { delegateState.delegate?.streamDrained() }
    }

    func streamFailed(_ failure: IOFailure) {
        guard isOpen else { return failHandshake(failure) }
        innerFailure = failure
        deliver()
        reportInnerFailure()
    }

    var readsAfterFailedWrite: Bool { delegateState.delegate?.readsAfterFailedWrite ?? false }
}
