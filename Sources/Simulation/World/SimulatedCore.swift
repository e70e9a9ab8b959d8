import Assembly
import Basics
import Gateway
import Promises
import Reactor
import SimReactor

/// One core of the gateway in a run, as the daemon's thread would have it.
final class SimulatedCore {
    let loop: SimLoop
    private(set) var core: GatewayCore?
    private weak var former: GatewayCore?
    /// When it was told to drain, and when that was over.
    private(set) var drains: Instant?
    private(set) var drained: Instant?
    private(set) var closed: Instant?
    /// When its work was over, or was told to be.
    var ended: Instant? { drained ?? closes }
    private var closes: Instant?

    init(
        _ index: Int, _ plan: Plan, on network: SimNetwork, _ journal: LogJournal,
        shared: SharedCounts = SharedCounts()
    ) {
        let loop = network.makeLoop("core \(index)")
        self.loop = loop
        let log = Log(level: .info, format: .json, clock: { [loop] in loop.unixTime }) {
            journal.add($0)
        }
        core = GatewayCore(plan, loop: loop, log: log, shared: shared)
    }

    func listen(at address: SocketAddress, isShared: Bool) throws(IOFailure) {
        _ = try core?.listen(on: address, sharedPort: isShared)
    }

    /// A reload, at its time.
    func install(_ plan: Plan, after milliseconds: Int) {
        loop.timer(after: .milliseconds(milliseconds)) { [unowned self] in
            if drains == nil { core?.install(plan) }
        }
    }

    /// What SIGTERM does, at its time.
    func drain(after milliseconds: Int) {
        loop.timer(after: .milliseconds(milliseconds)) { [unowned self] in
            guard let core else { return }
            drains = loop.now
            core.drain().whenSettled { [unowned self] _ in drained = loop.now }
        }
    }

    /// Ends it if it has not drained.
    func close() {
        guard drains == nil, let core else { return }
        loop.timer(after: .zero) { [unowned self] in
            closes = loop.now
            core.close().whenSettled { [unowned self] _ in closed = loop.now }
        }
    }

    /// What is left of it after its end, in words.
    func leftovers() -> [String] {
        var left = loop.leftovers
        if drains != nil, drained == nil { left.append("a drain that never ended") }
        if drains == nil, closed == nil { left.append("a close that never ended") }
        former = core
        core = nil
        if former != nil { left.append("the core itself, held by somebody") }
        return left
    }

    /// What is still going on, with nobody there, in words.
    var unrest: [String] {
        guard drains == nil, let snapshot = core?.snapshot else { return [] }
        var unrest: [String] = []
        if !snapshot.requests.isEmpty { unrest.append("\(snapshot.requests.count) requests") }
        if snapshot.connections > 0 { unrest.append("\(snapshot.connections) connections") }
        if snapshot.connections == 0, snapshot.bufferedBytes != 0 {
            unrest.append("\(snapshot.bufferedBytes) buffered bytes")
        }
        for backend in snapshot.backends where backend.running + backend.waiting > 0 {
            unrest.append(
                "\(backend.running) calls running and \(backend.waiting) waiting at \(backend.name)"
            )
        }
        return unrest
    }
}

/// The lines of all cores' logs.
final class LogJournal {
    private(set) var text: [UInt8] = []

    func add(_ bytes: [UInt8]) { text += bytes }

    var lines: [Tree] {
        text.split(separator: UInt8(ascii: "\n")).compactMap { Tree(reading: Array($0)) }
    }
}
