import Basics
package import Reactor

/// One end of a simulated connection; see `ByteStream` for the contract.
package final class SimStream: ByteStream, FailingStream {
    let loop: SimLoop
    private let incoming: SimPipe
    private let outgoing: SimPipe
    package let peer: SocketAddress?

    /// How received bytes are cut into reads at this end; initially the network's setting.
    package var split: ReadSplit

    package var delegateState = StreamDelegateState()
    private var isPaused = false
    private var isWatching = false
    /// The last end that was reported while reading is paused.
    private var pendingEnd: PendingEnd?
    private var isFinished = false
    /// The network refused a write.
    private var hasFailedOffer = false
    /// Why a write failed; reported when what was received before is delivered.
    private var writeFailure: IOFailure?
    private var isClosed = false
    private var hasReportedEnd = false

    /// Written in this instant, and offered to the kernel after its other events.
    private var buffered: [UInt8] = []
    /// The delegate writes after the other events of this instant.
    private var callsDelegateAtFlush = false

    /// The scheduled read.
    private var reading: Timer?

    init(on loop: SimLoop, incoming: SimPipe, outgoing: SimPipe, peer: SocketAddress?) {
        self.loop = loop
        self.incoming = incoming
        self.outgoing = outgoing
        self.peer = peer
        split = loop.network.settings.split
        incoming.reader = self
        outgoing.writer = self
        outgoing.writerName = loop.name
        loop.register(self)
    }

    deinit { close() }

    /// The direction that this end reads, as both ends observe it.
    package var incomingJournal: SimJournal { incoming.journal }

    /// The direction that this end writes, as both ends observe it.
    package var outgoingJournal: SimJournal { outgoing.journal }

    /// The name of the loop at the other end.
    package var peerName: String? { incoming.writerName }

    // MARK: TLS

    /// The result of a simulated handshake; nil on a plain connection.
    package var session: SimSession? { incoming.session }

    package var applicationProtocol: String? { session?.applicationProtocol }

    func setSession(_ session: SimSession) {
        incoming.session = session
        outgoing.session = session
    }

    /// The handshake of a listener, which owns the stream until its end.
    var handshake: SimServerHandshake?

    /// The client's part of a handshake, once it has arrived.
    var receivedHello: SimHello? { incoming.hello }

    var hasReceivedBytes: Bool { !incoming.arrived.isEmpty }

    /// Begins a handshake with a listener; `completed` is called at its end. If it fails, the connection
    /// ends instead.
    package func beginHandshake(_ hello: SimHello, completed: @escaping () -> Void) {
        outgoing.handshakeCompleted = { [loop] in loop.perform(completed) }
        outgoing.send(hello)
    }

    func confirmHandshake() { incoming.confirmHandshake() }

    /// Whether the peer has closed or reset the connection.
    var hasLostPeer: Bool { incoming.isReset || incoming.hasEnded }

    // MARK: Reading

    package func startReading(for delegate: any ByteStreamDelegate) {
        if setDelegate(delegate, isOpen: !isClosed, on: loop) { scheduleRead() }
    }

    package func replaceDelegate(with delegate: any ByteStreamDelegate) {
        _ = delegateState.replace(with: delegate)
    }

    package func pauseReading() {
        isPaused = true
        reading.take()?.cancel()
    }

    package func resumeReading() {
        isPaused = false
        isWatching = false
        pendingEnd = nil
        scheduleRead()
        if let writeFailure { reportWriteFailure(writeFailure) }
    }

    package func watchForEnd() {
        guard isPaused, delegateState.hasStarted, !hasReportedEnd else { return }
        isWatching = true
        reportPendingEnd()
    }

    /// Reports how the peer has ended, in a later callback, unless that was reported.
    private func reportPendingEnd() {
        guard isWatching, incoming.isReset || incoming.hasEnded else { return }
        let end = incoming.isReset ? PendingEnd.lost : .finished
        guard pendingEnd != end else { return }
        pendingEnd = end
        loop.network.clock.after(.zero) { [weak self] in
            guard let self, isWatching, !isClosed else { return }
            loop.perform { self.delegateState.delegate?.streamEndPending(end) }
        }
    }

    /// Schedules a read if there is something to deliver.
    func scheduleRead() {
        reportPendingEnd()
        if let handshake, !delegateState.hasStarted || receivedHello != nil {
            loop.network.clock.after(.zero) { [loop] in loop.perform { handshake.streamChanged() } }
            return
        }
        let isSomething =
            !incoming.arrived.isEmpty || incoming.isReset || (incoming.hasEnded && !hasReportedEnd)
        guard delegateState.hasStarted, !isPaused, !isClosed, isSomething, reading == nil else {
            return
        }
        reading = loop.network.clock.after(.zero) { [weak self] in
            guard let self else { return }
            reading = nil
            loop.perform { self.read() }
        }
    }

    private func read() {
        if !incoming.arrived.isEmpty {
            let count = split.nextSize(of: incoming.arrived.count, loop.network.entropy)
            let bytes = incoming.read(count)
            scheduleRead()
            delegateState.delegate?.streamReceived(bytes.span)
        } else if incoming.isReset {
            fail(.connectionReset)
        } else if incoming.hasEnded, !hasReportedEnd {
            hasReportedEnd = true
            incoming.readEnd()
            delegateState.delegate?.streamEnded()
        }
    }

    // MARK: Writing

    package func write(_ head: Span<UInt8>, _ body: Span<UInt8>) {
        guard !isClosed, !isFinished, delegateState.failureTimer == nil else { return }
        if incoming.isReset {
            hasFailedOffer = true
            return failLater(.connectionReset)
        }
        guard outgoing.unsent.isEmpty,
            buffered.count + head.count + body.count <= WriteBuffering.bytesMax
        else {
            offerBuffered()
            outgoing.write(head)
            outgoing.write(body)
            return
        }
        let isFirst = buffered.isEmpty
        buffered.append(copying: head)
        buffered.append(copying: body)
        if isFirst, !buffered.isEmpty { scheduleOffer() }
    }

    package func flushSoon() {
        guard !isClosed, !callsDelegateAtFlush else { return }
        callsDelegateAtFlush = true
        loop.network.clock.after(.zero) { [self] in
            loop.perform {
                callsDelegateAtFlush = false
                guard !isClosed else { return }
                delegateState.delegate?.streamFlushes()
                offerAtEndOfMoment()
            }
        }
    }

    private func scheduleOffer() {
        loop.network.clock.after(.zero) { [self] in loop.perform { offerAtEndOfMoment() } }
    }

    private func offerAtEndOfMoment() {
        guard !isClosed, !buffered.isEmpty else { return }
        if incoming.isReset {
            discardBuffered()
            hasFailedOffer = true
            return failLater(.connectionReset)
        }
        offerBuffered()
        if unsentBytes > 0 { delegateState.delegate?.streamBlocked() }
    }

    private func offerBuffered() {
        guard !buffered.isEmpty else { return }
        let bytes = buffered
        outgoing.write(bytes.span)
        buffered.removeAll(keepingCapacity: true)
    }

    package var hasOfferedAll: Bool { buffered.isEmpty && !hasFailedOffer }

    package func discardBuffered() { buffered.removeAll(keepingCapacity: true) }

    package var unsentBytes: Int {
        isClosed ? delegateState.droppedBytes : outgoing.unsent.count + outgoing.lostBytes
    }

    package var unacknowledgedBytes: Int { isClosed ? 0 : outgoing.unreadBytes }

    /// The network has taken all unsent bytes.
    func windowDrained() {
        loop.network.clock.after(.zero) { [weak self] in
            guard let self else { return }
            loop.perform {
                if self.unsentBytes == 0 { self.delegateState.delegate?.streamDrained() }
            }
        }
    }

    // MARK: Ending

    package func finishWriting() {
        guard !isClosed, !isFinished else { return }
        offerBuffered()
        isFinished = true
        outgoing.finish()
    }

    package func close() { endStream { $0.abort() } }

    /// The loop closes: reports that to the delegate as a failure.
    func abandon() {
        guard !isClosed else { return }
        fail(.cancelled)
        delegateState.cancelFailure()
    }

    package func reset() { endStream { $0.reset() } }

    private func endStream(_ direction: (SimPipe) -> Void) {
        delegateState.cancelFailure()
        reading.take()?.cancel()
        guard !isClosed else { return }
        offerBuffered()
        isClosed = true
        handshake = nil
        loop.openStreams -= 1
        incoming.dropReader()
        direction(outgoing)
        _ = delegateState.takeDelegate()
    }

    /// Reports a failure that a call of the user found; received data is delivered first.
    private func failLater(_ failure: IOFailure) {
        guard delegateState.failureTimer == nil else { return }
        writeFailure = failure
        reportWriteFailure(failure)
    }

    private func reportWriteFailure(_ failure: IOFailure) {
        delegateState.failureTimer = loop.timer(after: .zero) { [weak self] in
            guard let self else { return }
            if delegateState.hasStarted {
                if isPaused, delegateState.delegate?.readsAfterFailedWrite ?? false { return }
                if !isPaused, !incoming.arrived.isEmpty { return reportWriteFailure(failure) }
            }
            fail(failure)
        }
    }
}

/// How received bytes are cut into reads.
package enum ReadSplit: Sendable, Hashable {
    /// All bytes in one read.
    case whole
    /// Any number of bytes from one to all.
    case random
    /// These sizes in turn, repeatedly.
    case sizes([Int], at: Int = 0)

    fileprivate mutating func nextSize(of available: Int, _ entropy: Entropy) -> Int {
        switch self {
        case .whole:
            return available
        case .random:
            return 1 + entropy.below(available)
        case .sizes(let sizes, let place):
            guard !sizes.isEmpty else { return available }
            self = .sizes(sizes, at: (place + 1) % sizes.count)
            return min(max(1, sizes[place % sizes.count]), available)
        }
    }
}
