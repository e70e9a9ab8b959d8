package import Basics
import Promises
package import Reactor

/// A simulated machine room: one clock, one seed, and the loops, listeners, connections and names in
/// it. Everything runs on the thread that made it, one event at a time.
package final class SimNetwork {
    package let clock = SimClock()

    /// The seed's numbers; the loops' own come from here too.
    package let entropy: Entropy

    /// How the network behaves; may be changed at any time.
    package var settings = Settings()

    /// What a name asked for in vain is answered with; see `LookUpOutcome`.
    package var names: [String: SimNetwork.LookUpOutcome] = [
        "localhost": .addresses([.v4(0x7F00_0001), .v6(0, 1)])
    ]

    /// Addresses where connecting goes otherwise than "a listener or a refusal".
    package var connectBehaviors: [SocketAddress: ConnectBehavior] = [:]

    /// TLS of the listeners that have it; see `StreamSecurity.simulated`.
    package var identities: [SocketAddress: SimIdentity] = [:]

    /// Everything that happens goes in here, where somebody wants to compare or to read it.
    package var trace: SimTrace?

    /// Names looked up so far.
    package internal(set) var lookUps = 0

    /// The names of loops without a process of their own.
    private(set) lazy var nameService = makeNameService()

    // Whoever makes a loop or a listener owns it; here they are only known.
    private var loopReferences: [WeakReference<SimLoop>] = []
    var listeners: [WeakReference<SimListener>] = []

    private var lastPort: UInt16 = 49151

    /// Draws the times of messages; apart from `entropy`, so that connections and messages do not
    /// change each other's.
    private let messageEntropy: Entropy

    package init(seed: UInt64) {
        entropy = Entropy(seed: seed)
        messageEntropy = Entropy(seed: ~seed)
    }

    package struct Settings: Sendable {
        /// The time from one end of a connection to the other, drawn for every packet.
        package var latency: ClosedRange<Duration> = .microseconds(50)...(.microseconds(50))
        /// How arriving bytes are cut into reads.
        package var split = ReadSplit.whole
        /// What both kernels hold of one direction; more is the writer's to keep.
        package var windowBytes = 128 * 1024
        /// Connections that wait for a listener; more are not answered for a second.
        package var backlogMax = 128
        /// Some packets take longer by up to this: one in so many, on average.
        package var stalls: (oneIn: Int, upTo: Duration)?
        /// The time that a message takes to another thread's inbox, drawn for every message.
        package var messageLatency: ClosedRange<Duration> = .zero ... .zero
        /// Whether every connection remembers when its bytes were written and read.
        package var keepsJournals = false

        package init() {}
    }

    /// How an attempt to connect ends where there is more to say than "a listener or not".
    package enum ConnectBehavior: Sendable, Hashable {
        /// Fails, after a round trip.
        case fails(IOFailure)
        /// Never answers.
        case silent
        /// This share of attempts is refused, 0 to 1; the others go as usual.
        case refuses(share: Double)
    }

    /// What the name service says.
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

        /// Does not answer before the system gives up.
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

    private var pipes = 0

    func nextPipe() -> Int {
        pipes += 1
        return pipes
    }

    // MARK: Loops

    /// The thread that runs: the number of its loop, or 0 outside of all loops.
    var runningThread = 0
    private var threads = 0

    /// A loop of its own, as one thread of the daemon would have.
    ///
    /// - Parameter names: those of the loop's process, where it has some of its own
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

    /// The loops that are alive, in the order in which they were made.
    var loops: [SimLoop] { loopReferences.compactMap(\.object) }

    // MARK: Connecting

    /// The first packet of a connection: arrives, and is answered or not.
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
            // As a kernel does: the packet is dropped, and sent again after a second.
            clock.after(.seconds(1)) { [unowned self] in
                deliverConnect(from: loop, source, to: address, completion)
            }
            return
        }
        let (there, back) = (SimPipe(on: self), SimPipe(on: self))
        there.reverse = back
        back.reverse = there
        let isInternet = if case .ip = address { true } else { false }
        listener.connectionArrived(incoming: there, outgoing: back, peer: isInternet ? source : nil)
        clock.after(latency()) {
            let stream = SimStream(
                on: loop, incoming: back, outgoing: there, peer: isInternet ? address : nil)
            loop.perform { completion(.success(stream)) }
        }
    }

    /// A socket path is at most 107 bytes long, as on Linux.
    static func fits(_ path: String) -> Bool { (1...107).contains(path.utf8.count) }

    // MARK: Listening

    /// The address to listen on: with a port of its own where 0 is asked for.
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

    /// Who gets a connection to `address`: one of those who share it, by chance.
    private func listener(at address: SocketAddress) -> SimListener? {
        let all = listeners.compactMap { registered -> SimListener? in
            guard let listener = registered.object, listener.accepts(address) else { return nil }
            return listener
        }
        return all.count > 1 ? all[entropy.below(all.count)] : all.first
    }
}

extension SimListener {
    /// Its own address, or any at its port if it listens on all.
    fileprivate func accepts(_ target: SocketAddress) -> Bool {
        switch (address, target) {
        case (.ip(.v4(0), let port), .ip(_, let targetPort)): port == targetPort
        case (.ip(.v6(0, 0), let port), .ip(_, let targetPort)): port == targetPort
        default: address == target
        }
    }
}
