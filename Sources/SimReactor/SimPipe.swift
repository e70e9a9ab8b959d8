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
    private var underwayCount = 0
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

    private func note(_ event: SimTrace.Event, _ size: Int = 0) {
        network.trace?.note(event, number, size, at: now)
    }

    // MARK: The writer's side

    /// Takes what fits; the rest waits.
    func write(_ bytes: Span<UInt8>) {
        guard !bytes.isEmpty else { return }
        note(.writes, bytes.count)
        network.trace?.note(bytes)
        if network.settings.keepsJournals { journal.wrote(bytes.count, at: now) }
        unsent.append(copying: bytes)
        send()
    }

    /// Ends the direction after what waits.
    func finish() {
        guard !isFinished else { return }
        isFinished = true
        journal.closed = journal.closed ?? now
        note(.ends)
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
        note(.resets)
        unsent = []
        onArrival { pipe in
            pipe.isReset = true
            pipe.reverse?.unsent = []
            pipe.reader?.somethingArrived()
        }
    }

    private func send() {
        let free = network.settings.windowBytes - underwayCount - arrived.count
        let count = min(free, unsent.count)
        guard count > 0 else { return }
        let segment = Array(unsent[..<count])
        unsent.removeFirst(count)
        underwayCount += count
        onArrival { pipe in pipe.arrive(segment) }
    }

    private func sendEnd() {
        guard isFinished, unsent.isEmpty, !isEndSent, !isResetSent else { return }
        isEndSent = true
        onArrival { pipe in
            pipe.hasEnded = true
            pipe.reader?.somethingArrived()
        }
    }

    private func onArrival(_ action: @escaping (SimPipe) -> Void) {
        lastArrival = max(lastArrival, network.clock.now + network.latency())
        network.clock.at(lastArrival) { action(self) }
    }

    // MARK: The reader's side

    private func arrive(_ segment: [UInt8]) {
        underwayCount -= segment.count
        if isReaderGone {
            reverse?.reset()  // nobody reads any more: the writer shall know
        } else if !isReset {
            arrived += segment
            reader?.somethingArrived()
        }
    }

    /// Takes up to `count` bytes; their room is free for the writer a moment later.
    func read(_ count: Int) -> [UInt8] {
        let bytes = Array(arrived.prefix(count))
        arrived.removeFirst(bytes.count)
        note(.reads, bytes.count)
        if network.settings.keepsJournals { journal.hasRead(bytes.count, at: now) }
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
        writer?.everythingTaken()
    }

    /// The reader goes away. Bytes that it never read are answered by a reset, as a kernel does.
    func dropReader() {
        isReaderGone = true
        journal.abandoned = journal.abandoned ?? now
        note(.closes)
        if !arrived.isEmpty { reverse?.reset() }
        arrived = []
    }
}
