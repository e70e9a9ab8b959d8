import Basics
import HTTP
import Promises
import Reactor

/// One client's connection: it carries bytes between the stream, the reader and the state machine,
/// and requests between the machine and the service. It decides nothing; the machine does.
///
/// In the server's table, and held by its stream, as long as that is open.
final class ServerConnection: ByteStreamDelegate {
    let stream: any ByteStream
    unowned let server: Server
    /// Where it stands in the server's table.
    var slot: Int
    /// The client that this connection counts for, where connections are limited per client.
    let countedClient: ClientConnections.Client?

    private(set) var machine = ServerStateMachine()
    @exclusivity(unchecked) private var deadline = ConnectionDeadline()

    var reader: RequestReader
    /// What came before it could be read.
    private(set) var ahead = ReadAhead()
    /// Whether bytes are being read right now, further up the call stack.
    var isReading = false
    private var isPaused = false
    /// When the last request began, and how many did at that moment of the loop's clock, which stands
    /// still during a pass.
    private var lastBegan: Instant?
    private var begunInPass = 0

    /// The request that is with the service, and its body as long as that arrives.
    var running: RunningExchange?
    var body = IncomingBody.none
    /// What was wrong with the message that broke, for the answer.
    var wireError: WireError?
    /// Nothing was wrong, but there is no memory for it.
    var isShed = false
    /// What this connection holds in memory, beside its request's: bytes ahead of their time, half a
    /// head, an answer that the client has not read. Unchecked, as the deadline is: looked at with
    /// every event, and no access calls anybody.
    @exclusivity(unchecked) private var heldBytes = 0
    /// What of it is on its way to the client.
    @exclusivity(unchecked) private var unsentBytes = 0
    /// Bytes of bodies that have come over this connection.
    @exclusivity(unchecked) private var receivedBytes = 0
    /// The client's address as text, for the exchanges.
    private(set) lazy var client = stream.peer.map { "\($0)" }

    init(
        _ stream: any ByteStream, of server: Server, slot: Int,
        countedClient: ClientConnections.Client?
    ) {
        self.stream = stream
        self.server = server
        self.slot = slot
        self.countedClient = countedClient
        reader = RequestReader(limits: server.settings.limits)
    }

    /// Begins to read.
    func start() {
        stream.start(self)
        updateDeadline()
    }

    // MARK: What the stream and the server tell

    func streamReceived(_ bytes: Span<UInt8>) {
        if machine.reading == .drop { return }
        let end = ahead.isEmpty ? read(bytes) : 0
        // It may have been the last message; then the rest is read over like all that follows.
        if end < bytes.count, machine.reading != .drop {
            ahead.append(bytes.extracting(end...))
            readAhead()
            pauseIfFull()
        }
        countHeld()
        shedIfExhausted()
    }

    func streamEnded() {
        handle(.clientEnded)
    }

    func streamBlocked() {
        countHeld(unsent: stream.unsentBytes)
        handle(.outputBlocked)
    }

    func streamDrained() {
        countHeld(unsent: 0)
        handle(.outputDrained)
    }

    func streamFailed(_ failure: IOFailure) {
        handle(.clientLost)
    }

    // MARK: What the machine wants

    /// Tells the machine what happened and does what it says.
    func handle(_ event: ServerStateMachine.Event) {
        if let action = machine.handle(event) { perform(action) }
        updateDeadline()
    }

    private func perform(_ action: ServerStateMachine.Action) {
        switch action {
        case .serve: serve()
        case .sendContinue:
            stream.write(ServerConnection.goOn.span)
            readOn()
        case .readOn: readOn()
        case .sendAnswer(let keepsAlive): sendAnswer(keepsAlive: keepsAlive)
        case .refuse:
            refuse()
            finish()
        case .rejectBody: rejectBody()
        case .finish: finish()
        case .probe: probe()
        case .abandon:
            giveUp(
                status: server.isClosed ? ServerHooks.Ended.cutOff : ServerHooks.Ended.clientGone)
            leave()
        case .close: leave()
        }
    }

    private static let goOn = Bytes("HTTP/1.1 100 Continue\r\n\r\n")

    /// Reads what waits here, then what comes: while a request runs, too, as long as there is room for
    /// it, so that a client that leaves is seen.
    private func readOn() {
        readAhead()
        // Only this reads while it is paused, so it comes here again behind what it reads.
        guard isPaused, !isReading, ahead.count <= server.settings.aheadBytes else { return }
        isPaused = false
        machine.isUnread = false
        stream.resumeReading()
    }

    private func readAhead() {
        guard !isReading else { return }
        while machine.reading == .consume, !ahead.isEmpty {
            let bytes = ahead.bytes
            ahead.removeFirst(read(bytes.span))
        }
        countHeld()
        // The client ended before all that it sent could be read; now it has been.
        if machine.reading == .consume, machine.clientHasEnded { handle(.clientEnded) }
    }

    // MARK: Fairness

    /// Notes that a request begins.
    func noteBegin(at now: Instant) {
        begunInPass = now == lastBegan ? begunInPass + 1 : 1
        lastBegan = now
    }

    /// Whether another request may begin in this pass of the loop. If not, the connection goes on with
    /// the next pass: a client that sends many small requests at once must not keep other connections
    /// waiting for all of them.
    func mayBeginAnother() -> Bool {
        guard begunInPass >= server.settings.requestsPerPass, lastBegan == server.loop.now else {
            return true
        }
        handle(.passUsedUp)
        guard machine.reading == .keep else { return true }
        server.loop.timer(after: .zero) { [weak self] in self?.passBegan() }
        return false
    }

    private func passBegan() {
        begunInPass = 0
        handle(.passBegan)
        // Nothing but empty lines may have been left.
        if machine.isDraining { leaveIdle(.drainRequested) }
    }

    private func pauseIfFull() {
        guard !isPaused, ahead.count > server.settings.aheadBytes else { return }
        isPaused = true
        machine.isUnread = true
        stream.pauseReading()
        updateDeadline()
    }

    /// RFC 9112 9.6: our side ends, and what still comes is read over for a while.
    private func finish() {
        ahead = ReadAhead()
        stream.finishWriting()
        countHeld(unsent: stream.unsentBytes)
        if isPaused { stream.resumeReading() }
        isPaused = false
        machine.isUnread = false
        if stream.unsentBytes == 0 { handle(.outputDrained) }
    }

    /// A client that closed its connection and one that only ended its side look the same until
    /// something is sent: the first answers it with a reset; and of one from which nothing is read,
    /// because it sent too much ahead, nothing is seen at all. So while its request runs it is sent
    /// interim answers, which every client of HTTP/1.1 must read over (RFC 9110 15.2).
    private func probe() {
        unsafe deadline.prolongProbe(server.patience, now: server.loop.now)
        guard let running, running.request.head.version >= .http11 else { return }
        stream.write(ServerConnection.stillHere.span)
    }

    private static let stillHere = Bytes("HTTP/1.1 102 Processing\r\n\r\n")

    private func leave() {
        unsafe deadline.cancel()
        server.forgetWaits(of: self)
        stream.close()
        unsafe server.budget.give(heldBytes)
        unsafe heldBytes = 0
        server.forget(self)
    }

    // MARK: Memory

    /// Tells the budget what is held now.
    ///
    /// - Parameter unsent: what waits to be sent, where that may have changed
    func countHeld(unsent: Int? = nil) {
        guard !machine.isClosed else { return }
        if let unsent { unsafe unsentBytes = unsent }
        let held = unsafe ahead.heldBytes + reader.heldBytes + unsentBytes
        let before = unsafe heldBytes
        guard held != before else { return }
        unsafe heldBytes = held
        server.budget.adjust(by: held - before)
    }

    /// Notes that a piece of a body came.
    func noteReceived(_ count: Int) {
        unsafe receivedBytes &+= count
    }

    /// Whether the client reads the output that waits for it, at the minimum rate or faster.
    func readsOutput(now: Instant) -> Bool {
        unsafe deadline.reads(progress, server.patience, now: now)
    }

    /// Whether the connection has waited so long for what it waits for.
    func hasWaited(_ duration: Duration, now: Instant) -> Bool {
        unsafe now - deadline.since >= duration
    }

    /// A head that has begun is not waited for where there is no room for its rest: too many such
    /// heads are an attack.
    private func shedIfExhausted() {
        guard server.budget.isExhausted, machine.wait == .head, !server.budget.hasRoom() else {
            return
        }
        shed()
    }

    /// There is no memory for what comes: 503, and the connection ends.
    func shed() {
        isShed = true
        handle(.messageBroken)
    }

    // MARK: Patience

    private func updateDeadline() {
        let wait = machine.wait
        let former = unsafe deadline.wait
        guard wait != former || wait == .client else { return }
        let now = server.loop.now
        unsafe deadline.update(wait, server.patience, progress, now: now)
        server.noteWait(at: slot, from: former, to: wait)
        armTimer(now)
    }

    private var progress: ConnectionDeadline.Progress {
        unsafe ConnectionDeadline.Progress(unsent: stream.unsentBytes, received: receivedBytes)
    }

    /// How an idle connection is ended.
    enum Leaving {
        case drainRequested, evicted
    }

    /// Ends the connection if it is idle.
    func leaveIdle(_ leaving: Leaving) {
        let isSettled = hasWaited(server.settings.settleTime, now: server.loop.now)
        switch leaving {
        case .drainRequested: handle(.drainRequested(isSettled: isSettled))
        case .evicted: handle(.evicted(isSettled: isSettled))
        }
    }

    /// Notes that the wait is over before the event that ended it is handled to its end, which may be
    /// back in the same wait.
    func noteEndOfWait() { updateDeadline() }

    private func armTimer(_ now: Instant) {
        guard let due = unsafe deadline.timerNeeded else { return }
        unsafe deadline.timer?.cancel()
        unsafe deadline.timer = server.loop.timer(after: due - now) { [weak self] in
            self?.timerFired()
        }
    }

    private func timerFired() {
        let now = server.loop.now
        if unsafe deadline.hasPassed(server.patience, progress, now: now) {
            handle(.deadlinePassed)
        }
        armTimer(now)
    }
}
