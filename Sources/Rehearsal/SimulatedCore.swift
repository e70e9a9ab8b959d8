package import Assembly
package import Basics
package import Gateway
import Promises
package import Reactor
package import SimReactor

/// One core of the gateway in a run, as the daemon's thread would have it.
package final class SimulatedCore {
    /// Where the simulated gateway listens.
    package static let address = SocketAddress.ip(.v4(0x7F00_0001), port: 8080)

    package let loop: SimLoop
    package private(set) var core: GatewayCore?
    private weak var former: GatewayCore?
    /// When it was told to drain, and when that was over.
    package private(set) var drains: Instant?
    package private(set) var drained: Instant?
    package private(set) var closed: Instant?
    /// When its work was over, or was told to be.
    package var ended: Instant? { drained ?? closes }
    private var closes: Instant?

    package init(
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

    package func listen(at address: SocketAddress, isShared: Bool) throws(IOFailure) {
        _ = try core?.listen(on: address, sharedPort: isShared)
    }

    /// A reload, at its time.
    package func install(_ plan: Plan, after milliseconds: Int) {
        loop.timer(after: .milliseconds(milliseconds)) { [unowned self] in
            if drains == nil { core?.install(plan) }
        }
    }

    /// What SIGTERM does, at its time.
    package func drain(after milliseconds: Int) {
        loop.timer(after: .milliseconds(milliseconds)) { [unowned self] in
            guard let core else { return }
            drains = loop.now
            core.drain().whenSettled { [unowned self] _ in drained = loop.now }
        }
    }

    /// Ends it if it has not drained.
    package func close() {
        guard drains == nil, let core else { return }
        loop.timer(after: .zero) { [unowned self] in
            closes = loop.now
            core.close().whenSettled { [unowned self] _ in closed = loop.now }
        }
    }

    /// What is left of it after its end, in words.
    package func leftovers() -> [String] {
        var left = loop.leftovers
        if drains != nil, drained == nil { left.append("a drain that never ended") }
        if drains == nil, closed == nil { left.append("a close that never ended") }
        former = core
        core = nil
        if former != nil { left.append("the core itself, held by somebody") }
        return left
    }

    /// What is still going on, with nobody there, in words.
    package var unrest: [String] {
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
package final class LogJournal {
    package private(set) var text: [UInt8] = []

    package init() {}

    package func add(_ bytes: [UInt8]) { text += bytes }

    package var lines: [Tree] {
        text.split(separator: UInt8(ascii: "\n")).compactMap { Tree(reading: Array($0)) }
    }
}
