package import Basics
import Promises
package import Reactor

/// A simulated network: one clock, one seed, and its loops, listeners, connections and names.
/// Everything runs on one thread, one event at a time.
package final class SimNetwork {
    package let clock = SimClock()

    /// Random numbers of the seed, also the source of each loop's own.
    package let entropy: Entropy

    /// The behaviour of the network; may be changed at any time.
    package var settings = Settings()

    /// The outcome of a look-up for each name; other names are not found.
    package var names: [String: SimNetwork.LookUpOutcome] = [
        "localhost": .addresses([.v4(0x7F00_0001), .v6(0, 1)])
    ]

    /// Addresses where a connection attempt does not just reach a listener or a refusal.
    package var connectBehaviors: [SocketAddress: ConnectBehavior] = [:]

    /// The TLS identities of listeners; see `StreamSecurity.simulated`.
    package var identities: [SocketAddress: SimIdentity] = [:]

    /// Records all events, if set.
    package var trace: SimTrace?

    /// The number of look-ups so far.
    package internal(set) var lookUps = 0

    /// The name service of loops without a process of their own.
    private(set) lazy var nameService = makeNameService()

    // The creator of a loop or a listener owns it; the network only refers to it.
    private var loopReferences: [WeakReference<SimLoop>] = []
    var listeners: [WeakReference<SimListener>] = []

    private var lastPort: UInt16 = 49151

    /// The source of message latencies. Separate from `entropy`, so that messages do not change the
    /// latencies of packets and vice versa.
    private let messageEntropy: Entropy

    package init(seed: UInt64) {
        entropy = Entropy(seed: seed)
        messageEntropy = Entropy(seed: ~seed)
    }

    package struct Settings: Sendable {
        /// The latency of a packet from one end of a connection to the other, random for each
        /// packet.
        package var latency: ClosedRange<Duration> = .microseconds(50)...(.microseconds(50))
        /// How received bytes are cut into reads.
        package var split = ReadSplit.whole
        /// The capacity of both kernels for one direction; the writer keeps the rest.
        package var windowBytes = 128 * 1024
        /// How much of it must be free until the writer's kernel takes more after it was full. A third
        /// of a buffer of up to 4 MiB on Linux.
        package var refillBytes = 0
        /// Connections in a listener's queue; more are retried after a second.
        package var backlogMax = 128
        /// Additional latency of random packets: one in `oneIn`, of up to `upTo`.
        package var stalls: (oneIn: Int, upTo: Duration)?
        /// The longest time that a packet may take.
        package var longestLatency: Duration { latency.upperBound + (stalls?.upTo ?? .zero) }
        /// The latency of a message to another thread's inbox, random for each message.
        package var messageLatency: ClosedRange<Duration> = .zero ... .zero
        /// Whether every connection records when its bytes were written and read.
        package var keepsJournals = false

        package init() {}
    }

    /// The behaviour of an address towards connection attempts.
    package enum ConnectBehavior: Sendable, Hashable {
        /// Fails, after a round trip.
        case fails(IOFailure)
        /// Never responds.
        case silent
        /// A random share of attempts is refused, 0 to 1; the others behave normally.
        case refuses(share: Double)
    }

    /// The outcome of a look-up.
    package struct LookUpOutcome: Sendable {
        package var result: Result<[IPAddress], IOFailure>
        package var delay: Duration

        package static func addresses(
            _ list: [IPAddress], after delay: Duration = .milliseconds(1)
        ) -> LookUpOutcome {
            LookUpOutcome(result: .success(list), delay: delay)
        }

        package static func fails(
            _ failure: IOFailure, after delay: Duration = .milliseconds(1)
        ) -> LookUpOutcome {
            LookUpOutcome(result: .failure(failure), delay: delay)
        }

        /// No response before the system times out.
        package static func hangs(_ delay: Duration = .seconds(30)) -> LookUpOutcome {
            .fails(.nameServiceFailed, after: delay)
        }
    }

    func latency() -> Duration {
        let (low, high) = (settings.latency.lowerBound, settings.latency.upperBound)
        let spread = Int((high - low).inNanoseconds)
        var latency = spread > 0 ? low + .nanoseconds(entropy.below(spread + 1)) : low
        if let stalls = settings.stalls, entropy.chance(oneIn: stalls.oneIn) {
            latency += .nanoseconds(entropy.below(Int(stalls.upTo.inNanoseconds) + 1))
        }
        return latency
    }

    func messageLatency() -> Duration {
        let range = settings.messageLatency
        let spread = Int((range.upperBound - range.lowerBound).inNanoseconds)
        guard spread > 0 else { return range.lowerBound }
        return range.lowerBound + .nanoseconds(messageEntropy.below(spread + 1))
    }

    private var inboxes = 0

    func nextInbox() -> Int {
        inboxes += 1
        return inboxes
    }

    private var marks = 0

    /// The number of the next mark in a journal.
    func nextMark() -> Int {
        marks += 1
        return marks
    }

    private var pipes = 0

    func nextPipe() -> Int {
        pipes += 1
        return pipes
    }

    // MARK: Loops

    /// The running thread: the number of its loop, or 0 outside of all loops.
    var runningThread = 0
    private var threads = 0

    /// Creates a loop, which corresponds to one worker of the daemon.
    ///
    /// - Parameter names: the name service of the loop's process; nil for the network's
    package func makeLoop(_ name: String, names: NameService? = nil) -> SimLoop {
        let readyQueue = ReadyQueue()
        let context = SimContext()
        threads += 1
        let loop = SimLoop(
            name, thread: threads, on: self,
            local: LocalContext(on: context, readyQueue: readyQueue), readyQueue: readyQueue,
            names: names ?? nameService)
        context.loop = loop
        loopReferences.append(WeakReference(loop))
        return loop
    }

    /// The loops that exist, in the order of their creation.
    var loops: [SimLoop] { loopReferences.compactMap(\.object) }

    // MARK: Connecting

    /// Sends the first packet of a connection.
    func connect(
        from loop: SimLoop, to address: SocketAddress,
        _ completion: @escaping (Result<SimStream, IOFailure>) -> Void
    ) {
        switch connectBehaviors[address] {
        case .silent?: return
        case .fails(let failure)?: fail(failure, loop, completion)
        case .refuses(let share)? where entropy.chance(share):
            fail(.connectionRefused, loop, completion)
        case .refuses?, nil:
            let source = loop.host.map { SocketAddress.ip($0, port: freePort()) }
            clock.after(latency()) { [unowned self] in
                deliverConnect(from: loop, source, to: address, completion)
            }
        }
    }

    /// Fails an attempt to connect after a round trip.
    private func fail(
        _ failure: IOFailure, _ loop: SimLoop,
        _ completion: @escaping (Result<SimStream, IOFailure>) -> Void
    ) {
        clock.after(latency() + latency()) { loop.perform { completion(.failure(failure)) } }
    }

    private func deliverConnect(
        from loop: SimLoop, _ source: SocketAddress?, to address: SocketAddress,
        _ completion: @escaping (Result<SimStream, IOFailure>) -> Void
    ) {
        guard let listener = listener(at: address) else {
            clock.after(latency()) { loop.perform { completion(.failure(.connectionRefused)) } }
            return
        }
        guard !listener.isFull else {
            // As a kernel does: it drops the packet, and the client sends it again after a second.
            clock.after(.seconds(1)) { [unowned self] in
                deliverConnect(from: loop, source, to: address, completion)
            }
            return
        }
        let (there, back) = (SimPipe(on: self), SimPipe(on: self))
        there.reverse = back
        back.reverse = there
        let isInternet = if case .ip = address { true } else { false }
        listener.connectionArrived(
            incoming: there, outgoing: back, peer: isInternet ? source : .unnamedUnix)
        clock.after(latency()) {
            let stream = SimStream(
                on: loop, incoming: back, outgoing: there, peer: isInternet ? address : .unnamedUnix
            )
            loop.perform { completion(.success(stream)) }
        }
    }

    /// A socket path is at most 107 bytes long, as on Linux.
    static func fits(_ path: String) -> Bool { (1...107).contains(path.utf8.count) }

    // MARK: Listening

    /// The address to listen on, with a free port for port 0.
    func reserve(_ address: SocketAddress, isShared: Bool) throws(IOFailure) -> SocketAddress {
        var address = address
        if case .unix(let path) = address, !SimNetwork.fits(path) { throw .addressInvalid }
        if case .ip(let host, 0) = address { address = .ip(host, port: freePort()) }
        let isTaken = listeners.contains { registered in
            guard let listener = registered.object, listener.address == address else {
                return false
            }
            return !(isShared && listener.isShared)
        }
        if isTaken { throw .addressInUse }
        return address
    }

    private func freePort() -> UInt16 {
        lastPort = lastPort == .max ? 49152 : lastPort + 1
        return lastPort
    }

    /// The listener for `address`; a random one of those that share it.
    private func listener(at address: SocketAddress) -> SimListener? {
        let all = listeners.compactMap { registered -> SimListener? in
            guard let listener = registered.object, listener.accepts(address) else { return nil }
            return listener
        }
        return all.count > 1 ? all[entropy.below(all.count)] : all.first
    }
}

extension SimListener {
    /// Whether the target is its address, or any address at its port if it listens on all.
    fileprivate func accepts(_ target: SocketAddress) -> Bool {
        switch (address, target) {
        case (.ip(.v4(0), let port), .ip(_, let targetPort)): port == targetPort
        case (.ip(.v6(0, 0), let port), .ip(_, let targetPort)): port == targetPort
        default: address == target
        }
    }
}
