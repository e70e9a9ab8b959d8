import Basics
import Reactor

/// One direction of a simulated connection: the writer's kernel, the wire and the reader's kernel.
///
/// It exists until all packets in transit have arrived, even if both streams are gone.
final class SimPipe {
    /// Not retained, since the network's clock retains the pipe while packets are in transit.
    private unowned let network: SimNetwork
    /// Identifies the connection in the trace; the two directions have successive numbers.
    let number: Int
    private(set) var journal = SimJournal()
    weak var writer: SimStream?
    /// The loop of the writer, also after the writer is gone.
    var writerName: String?
    weak var reader: SimStream?
    /// The result of a handshake.
    var session: SimSession?
    /// The writer's part of a handshake with a listener, once it has arrived.
    private(set) var hello: SimHello?
    /// Called when the reader has completed the handshake.
    var handshakeCompleted: (() -> Void)?
    /// The other direction; weak, since the two would retain each other.
    weak var reverse: SimPipe?

    /// Written, but the writer's kernel has no room for it yet.
    private(set) var unsent: [UInt8] = []
    /// Unsent when the reader reset the connection.
    private(set) var lostBytes = 0
    /// On the wire.
    private var inTransitCount = 0
    /// In the reader's kernel, not yet read.
    private(set) var arrived: [UInt8] = []
    /// Packets arrive in order: none arrives before this time.
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

    /// Sends as much as the window allows; the rest stays unsent.
    func write(_ bytes: Span<UInt8>) {
        guard !bytes.isEmpty else { return }
        record(.writes, bytes.count)
        network.trace?.record(bytes)
        if network.settings.keepsJournals {
            journal.recordWrite(bytes.count, at: now, number: network.nextMark())
        }
        unsent.append(copying: bytes)
        send()
        if network.settings.keepsJournals { journal.recordUnsent(unsent.count) }
    }

    /// Sends the writer's part of a handshake.
    func send(_ hello: SimHello) {
        deliver { pipe in
            pipe.hello = hello
            pipe.reader?.scheduleRead()
        }
    }

    /// Tells the writer that the handshake is complete.
    func confirmHandshake() {
        network.clock.after(network.latency()) { [self] in handshakeCompleted.take()?() }
    }

    /// Ends the direction after the unsent bytes.
    func finish() {
        guard !isFinished else { return }
        isFinished = true
        journal.closed = journal.closed ?? now
        record(.ends)
        sendEnd()
    }

    /// Ends the direction without the unsent bytes.
    func abort() {
        unsent = []
        if isFinished { sendEnd() } else { finish() }
    }

    /// Resets the direction: unsent bytes are lost, bytes in transit arrive before the reset.
    func reset() {
        guard !isResetSent else { return }
        isResetSent = true
        isFinished = true
        journal.closed = journal.closed ?? now
        record(.resets)
        unsent = []
        deliver { pipe in
            pipe.isReset = true
            pipe.reverse?.dropUnsent()
            pipe.reader?.scheduleRead()
        }
    }

    private func dropUnsent() {
        lostBytes += unsent.count
        unsent = []
    }

    /// Sent, and not read by the reader.
    var unreadBytes: Int { inTransitCount + arrived.count }

    private func send() {
        let free = network.settings.windowBytes - unreadBytes
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
            reverse?.reset()  // there is no reader, so the writer gets a reset
        } else if !isReset {
            arrived += segment
            reader?.scheduleRead()
        }
    }

    /// Takes up to `count` bytes; the writer learns of the free window after a latency.
    func read(_ count: Int) -> [UInt8] {
        let bytes = Array(arrived.prefix(count))
        arrived.removeFirst(bytes.count)
        record(.reads, bytes.count)
        if network.settings.keepsJournals {
            journal.recordRead(bytes.count, at: now, number: network.nextMark())
        }
        if !unsent.isEmpty {
            network.clock.after(network.latency()) { self.refill() }
        }
        return bytes
    }

    /// The reader is notified of the end.
    func readEnd() { journal.endRead = now }

    private func refill() {
        let settings = network.settings
        guard !unsent.isEmpty, settings.windowBytes - unreadBytes >= settings.refillBytes else {
            return
        }
        send()
        guard unsent.isEmpty else { return }
        sendEnd()
        if network.settings.keepsJournals { journal.recordDrained(at: now) }
        writer?.windowDrained()
    }

    /// The reader closes. Unread bytes cause a reset, as a kernel does.
    func dropReader() {
        isReaderGone = true
        journal.abandoned = journal.abandoned ?? now
        record(.closes)
        if !arrived.isEmpty { reverse?.reset() }
        arrived = []
    }
}
