package import Assembly
package import Basics
package import Gateway
package import Reactor
package import SimReactor

/// One worker of the gateway in a run, as the daemon's thread would have it. Its messages pass through
/// here, so that their times are known.
package final class SimulatedWorker: MessageReceiver {
    /// Where the simulated gateway listens.
    package static let address = SocketAddress.ip(.v4(0x7F00_0001), port: 8080)

    package let loop: SimLoop
    /// The worker as its process reaches it.
    let handle: WorkerHandle
    private let inbox: SimInbox<WorkerMessage>
    private let setup: WorkerSetup
    private var worker: Worker?
    /// For the check that nothing holds it after its end.
    private weak var instance: GatewayInstance?
    /// When it received each configuration but the first.
    package private(set) var installations: [Instant] = []
    /// When it began to drain, and when that was over.
    package private(set) var drains: Instant?
    package private(set) var drained: Instant?
    package private(set) var closed: Instant?
    /// When its work was over, or began to be ended.
    package var ended: Instant? { drained ?? closes }
    private var closes: Instant?

    package init(_ index: Int, of workers: Int, _ plan: Plan, in process: SimulatedProcess) {
        let network = process.network
        loop = network.makeLoop("worker \(index)", names: process.shared.names)
        inbox = SimInbox(on: network)
        setup = process.setup(index, of: workers)
        handle = WorkerHandle(setup, inbox: inbox)
        worker = Worker(setup, plan, on: loop) { [unowned self] in workEnded() }
        instance = worker?.instance
        inbox.open(on: loop, for: self)
    }

    package func listen(at address: SocketAddress, isShared: Bool) throws(IOFailure) {
        _ = try instance?.listen(on: address, sharedPort: isShared)
        setup.report(.listening)
    }

    package func receive(_ message: WorkerMessage) {
        switch message {
        case .install: installations.append(loop.now)
        case .drain: drains = loop.now
        case .close: closes = loop.now
        case .announceDrain, .heartbeat, .takeSnapshot: break
        }
        worker?.receive(message)
    }

    /// The worker has ended; its loop would end now.
    private func workEnded() {
        if drains != nil { drained = loop.now } else { closed = loop.now }
        inbox.close()
        setup.report(.ended(openHandles: []))
    }

    /// What is left of it after its end, in words.
    package func leftovers() -> [String] {
        var left = loop.leftovers
        if drains != nil, drained == nil { left.append("a drain that never ended") }
        if drains == nil, closed == nil { left.append("a close that never ended") }
        if !handle.hasEnded { left.append("a worker whose end was never reported") }
        worker = nil
        if instance != nil { left.append("the core itself, which is still referenced") }
        return left
    }

    /// Work that is still in progress although all clients have left, in words.
    package var unrest: [String] {
        guard drains == nil, let snapshot = instance?.snapshot else { return [] }
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
