import Basics
import Reactor

/// One direction of a simulated connection: the writer's kernel, the wire and the reader's kernel.
///
/// It lives as long as something is under way in it, whatever became of the two streams.
final class SimPipe {
    /// Not held: what is under way is held by the network's clock.
    private unowned let network: SimNetwork
    /// Names the connection in the trace; odd for the way back.
    let number: Int
    private(set) var journal = SimJournal()
    weak var writer: SimStream?
    /// The loop of the writer, also when that is gone.
    var writerName: String?
    weak var reader: SimStream?
    /// What a handshake agreed on.
    var session: SimSession?
    /// The direction back; weak, for the two would keep each other.
    weak var reverse: SimPipe?

    /// Written and not yet taken by the writer's kernel: its buffer is full.
    private(set) var unsent: [UInt8] = []
    /// On the wire.
    private var inTransitCount = 0
    /// In the reader's kernel, not yet read.
    private(set) var arrived: [UInt8] = []
    /// The wire keeps order: nothing arrives before this.
    private var lastArrival: Instant

    private var isFinished = false
    private var isEndSent = false
    private var isResetSent = false
    private(set) var hasEnded = false
    private(set) var isReset = false
    private var isReaderGone = false

    init(on network: SimNetwork) {
        self.network = network
        number = network.nextPipe()
        lastArrival = network.clock.now
    }

    private var now: Instant { network.clock.now }

    private func record(_ event: SimTrace.Event, _ size: Int = 0) {
        network.trace?.record(event, number, size, at: now)
    }

    // MARK: The writer's side

    /// Takes what fits; the rest waits.
    func write(_ bytes: Span<UInt8>) {
        guard !bytes.isEmpty else { return }
        record(.writes, bytes.count)
        network.trace?.record(bytes)
        if network.settings.keepsJournals { journal.recordWrite(bytes.count, at: now) }
        unsent.append(copying: bytes)
        send()
    }

    /// Ends the direction after what waits.
    func finish() {
        guard !isFinished else { return }
        isFinished = true
        journal.closed = journal.closed ?? now
        record(.ends)
        sendEnd()
    }

    /// Ends the direction without what waits.
    func abort() {
        unsent = []
        if isFinished { sendEnd() } else { finish() }
    }

    /// Ends the direction by force: what waits is lost, what is on the wire arrives before it.
    func reset() {
        guard !isResetSent else { return }
        isResetSent = true
        isFinished = true
        journal.closed = journal.closed ?? now
        record(.resets)
        unsent = []
        deliver { pipe in
            pipe.isReset = true
            pipe.reverse?.unsent = []
            pipe.reader?.scheduleRead()
        }
    }

    private func send() {
        let free = network.settings.windowBytes - inTransitCount - arrived.count
        let count = min(free, unsent.count)
        guard count > 0 else { return }
        let segment = Array(unsent[..<count])
        unsent.removeFirst(count)
        inTransitCount += count
        deliver { pipe in pipe.arrive(segment) }
    }

    private func sendEnd() {
        guard isFinished, unsent.isEmpty, !isEndSent, !isResetSent else { return }
        isEndSent = true
        deliver { pipe in
            pipe.hasEnded = true
            pipe.reader?.scheduleRead()
        }
    }

    private func deliver(_ action: @escaping (SimPipe) -> Void) {
        lastArrival = max(lastArrival, network.clock.now + network.latency())
        network.clock.at(lastArrival) { action(self) }
    }

    // MARK: The reader's side

    private func arrive(_ segment: [UInt8]) {
        inTransitCount -= segment.count
        if isReaderGone {
            reverse?.reset()  // nobody reads any more: the writer shall know
        } else if !isReset {
            arrived += segment
            reader?.scheduleRead()
        }
    }

    /// Takes up to `count` bytes; their room is free for the writer a moment later.
    func read(_ count: Int) -> [UInt8] {
        let bytes = Array(arrived.prefix(count))
        arrived.removeFirst(bytes.count)
        record(.reads, bytes.count)
        if network.settings.keepsJournals { journal.recordRead(bytes.count, at: now) }
        if !unsent.isEmpty {
            network.clock.after(network.latency()) { self.refill() }
        }
        return bytes
    }

    /// The reader is notified of the end.
    func readEnd() { journal.endRead = now }

    private func refill() {
        guard !unsent.isEmpty else { return }
        send()
        guard unsent.isEmpty else { return }
        sendEnd()
        writer?.windowDrained()
    }

    /// The reader goes away. Bytes that it never read are answered by a reset, as a kernel does.
    func dropReader() {
        isReaderGone = true
        journal.abandoned = journal.abandoned ?? now
        record(.closes)
        if !arrived.isEmpty { reverse?.reset() }
        arrived = []
    }
}
