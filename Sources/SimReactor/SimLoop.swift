package import Basics
package import Promises
package import Reactor

/// A simulated worker: a loop that uses its network's virtual clock.
package final class SimLoop: Loop {
    package let local: LocalContext
    package let entropy: Entropy
    package let descriptors = LoopDescriptors()
    package let iterations = LoopIterations()
    package let memory = LoopMemory()
    package let network: SimNetwork

    /// The name in reports.
    package let name: String

    /// The source address of its connections; nil for none.
    package var host: IPAddress? = .v4(0x7F00_0001)

    /// Identifies the loop as the sender of messages.
    private let thread: Int
    private let readyQueue: ReadyQueue
    package private(set) var names: NameResolver?
    private var drainsLater = false

    /// Timers that may be pending; swept when their number doubles.
    private var timers: [Timer] = []
    private var timerSweepThreshold = 64

    /// Streams and connection attempts that may be open; swept when their number doubles.
    private var streams: [WeakReference<SimStream>] = []
    private var attempts: [WeakReference<SimAttempt>] = []
    private var sweepThreshold = 64

    /// Whether no new work may start.
    private var isClosed = false

    /// Open objects of this loop, for the leak check.
    var openStreams = 0
    var openListeners = 0
    var openAttempts = 0
    var openInboxes: Int { inboxes.count - loopInboxes }

    private var inboxes: [any OpenInbox] = []
    /// The number of inboxes of the loop itself.
    private var loopInboxes = 0

    /// Open streams that no listener has accepted yet: they belong to the kernel.
    var waitingStreams = 0

    /// Open descriptors of this loop's process: the number that its next descriptor would get.
    package var openDescriptors: Int {
        openStreams - waitingStreams + openListeners + openAttempts
    }

    /// Promise jobs run in one drain, before other events run.
    private static let jobsPerDrainMax = 1024

    init(
        _ name: String, thread: Int, on network: SimNetwork, local: LocalContext,
        readyQueue: ReadyQueue,
        names service: NameService
    ) {
        self.name = name
        self.thread = thread
        self.network = network
        self.local = local
        self.readyQueue = readyQueue
        entropy = Entropy(seed: network.entropy.next())
        let inbox = SimInbox<NameResult>(on: network)
        let names = NameResolver(on: self, service: service, inbox: inbox)
        self.names = names
        inbox.open(on: self, for: names, isOfLoop: true)
    }

    deinit {
        let open = inboxes
        for inbox in open { inbox.close() }
    }

    // MARK: Inboxes

    func register(_ inbox: any OpenInbox, isOfLoop: Bool) {
        inboxes.append(inbox)
        if isOfLoop { loopInboxes += 1 }
    }

    func unregister(_ inbox: any OpenInbox) { inboxes.removeAll { $0 === inbox } }

    // MARK: Clock

    package var now: Instant { network.clock.now }

    package var exactNow: Instant { network.clock.now + timeOfCode }

    /// How long the code of the present iteration has run. Zero unless a test sets it.
    package var timeOfCode = Duration.zero

    /// How late the timers fire that are made from now on. Zero unless a test sets it.
    package var timerLateness = Duration.zero

    /// The simulation begins on 2026-01-01 00:00:00 UTC.
    package var unixTime: Int64 { 1_767_225_600_000_000_000 + now.nanoseconds }

    @discardableResult
    package func timer(after delay: Duration, _ action: @escaping () -> Void) -> Timer {
        if isClosed { return TimerQueue().add(due: now, action) }
        let timer = network.clock.after(delay + timerLateness) { [weak self] in
            self?.perform(action)
        }
        timers.append(timer)
        if timers.count >= 2 * timerSweepThreshold {
            timerSweepThreshold = max(64, pendingTimers)
        }
        return timer
    }

    /// Timers that neither fired nor were cancelled.
    package var pendingTimers: Int {
        timers.removeAll { !$0.isPending }
        return timers.count
    }

    // MARK: Callbacks

    /// Runs an event of this loop and drains its ready queue.
    func perform(_ event: () -> Void) {
        onThread {
            event()
            drain()
        }
    }

    /// Runs `body` as this loop's thread.
    private func onThread(_ body: () -> Void) {
        let former = network.runningThread
        network.runningThread = thread
        body()
        network.runningThread = former
    }

    func enqueue(_ job: consuming PromiseJob) { readyQueue.append(job) }

    /// Runs jobs that the test enqueued outside of the loop's events.
    func drainWaiting() {
        if !readyQueue.isEmpty, !drainsLater { onThread { drain() } }
    }

    /// The remaining jobs run in an event of their own, after the other events of this instant.
    private func drain() {
        readyQueue.drain(atMost: SimLoop.jobsPerDrainMax)
        guard !readyQueue.isEmpty, !drainsLater else { return }
        drainsLater = true
        network.clock.after(.zero) { [weak self] in
            guard let self else { return }
            drainsLater = false
            onThread { drain() }
        }
    }

    // MARK: Network

    package func connect(to address: SocketAddress) -> LocalPromise<any ByteStream> {
        if isClosed { return local.error(IOFailure.cancelled) }
        let resolver = LocalResolver<any ByteStream>(on: local)
        let promise = resolver.promise
        let number = openDescriptors
        let attempt = SimAttempt(resolver, on: self)
        attempts.append(WeakReference(attempt))
        sweep()
        if number >= descriptors.connectCeiling {
            descriptors.reportShortage(.connect)
            attempt.complete(.failure(.outOfDescriptors))
        } else if case .unix(let path) = address, !SimNetwork.fits(path) {
            attempt.complete(.failure(.addressInvalid))
        } else {
            network.connect(from: self, to: address) { attempt.complete($0) }
        }
        return promise
    }

    package func listen(
        on address: SocketAddress, sharedPort: Bool, accept: @escaping (any ByteStream) -> Void
    ) throws(IOFailure) -> any Listener {
        if isClosed { throw .cancelled }
        let reserved = try network.reserve(address, isShared: sharedPort)
        return SimListener(on: self, address: reserved, isShared: sharedPort, accept: accept)
    }

    // MARK: Closing

    func register(_ stream: SimStream) {
        openStreams += 1
        streams.append(WeakReference(stream))
        sweep()
    }

    /// Removes references to streams and attempts that no longer exist.
    private func sweep() {
        guard streams.count + attempts.count >= 2 * sweepThreshold else { return }
        streams.removeAll { $0.object == nil }
        attempts.removeAll { $0.object == nil }
        sweepThreshold = max(64, streams.count + attempts.count)
    }

    /// Closes everything by force, as a real loop does at its end: cancels timers, fails connection
    /// attempts and streams with `cancelled`, and runs the remaining promise handlers.
    ///
    /// - Returns: what was still open, one line each
    @discardableResult
    package func close() -> [String] {
        let left = leftovers
        isClosed = true
        names?.close()
        names = nil
        let open = inboxes
        (inboxes, loopInboxes) = ([], 0)
        for inbox in open { inbox.close() }
        for timer in timers { timer.cancel() }
        for listener in network.listeners.compactMap(\.object) where listener.loop === self {
            listener.abandon()
        }
        perform {
            for attempt in attempts { attempt.object?.complete(.failure(.cancelled)) }
            for stream in streams { stream.object?.abandon() }
        }
        (attempts, streams) = ([], [])
        return left
    }
}

/// A connection attempt, until it is completed or cancelled.
private final class SimAttempt {
    private var resolver: LocalResolver<any ByteStream>?
    private let loop: SimLoop

    init(_ resolver: consuming LocalResolver<any ByteStream>, on loop: SimLoop) {
        self.loop = loop
        loop.openAttempts += 1
        resolver.onCancel { [self] _ in cancel() }
        self.resolver = consume resolver
    }

    /// A stream that no promise takes is closed by its `deinit`.
    func complete(_ result: Result<SimStream, IOFailure>) {
        guard let resolver = resolver.take() else { return }
        loop.openAttempts -= 1
        switch result {
        case .success(let stream): resolver.fulfill(stream)
        case .failure(let failure): resolver.reject(failure)
        }
    }

    private func cancel() {
        guard resolver.take() != nil else { return }
        loop.openAttempts -= 1
    }
}
