package import Assembly
package import Basics
package import Gateway
package import Reactor
package import SimReactor

/// A worker of the gateway in a simulated run, as the daemon has one per thread. Its messages pass
/// through this object, which records their times.
package final class SimulatedWorker: MessageReceiver {
    /// Where the simulated gateway listens.
    package static let address = address(0)

    /// Of the first listener 127.0.0.1, of others an address that hosts of backends seldom have.
    ///
    /// - Parameter listener: its index in the configuration
    package static func address(_ listener: Int) -> SocketAddress {
        .ip(.v4(listener == 0 ? 0x7F00_0001 : 0x7FFF_0000 + UInt32(listener)), port: 8080)
    }

    package let loop: SimLoop
    /// The process's reference to the worker.
    let handle: WorkerHandle
    private let inbox: SimInbox<WorkerMessage>
    private let setup: WorkerSetup
    private var worker: Worker?
    /// Weak, to check that nothing references the instance after its end.
    private weak var instance: GatewayInstance?
    /// When it received each configuration but the first.
    package private(set) var installations: [Instant] = []
    /// When it began to drain, and when the drain ended.
    package private(set) var drains: Instant?
    package private(set) var drained: Instant?
    package private(set) var closed: Instant?
    /// The records of its requests that have ended, in this order.
    package private(set) var recorded: [RecordedRequest] = []
    /// When its drain ended, or when it received the message to close.
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
        instance?.onRequestEnded = { [unowned self] exchange, status, outcome in
            recorded.append(RecordedRequest(exchange, status: status, outcome))
        }
        inbox.open(on: loop, for: self)
    }

    /// Listens on these addresses, in the order of the configuration.
    package func listen(at addresses: [SocketAddress], isShared: Bool) throws(IOFailure) {
        for (number, address) in addresses.enumerated() {
            _ = try instance?.listen(on: address, as: number, sharedPort: isShared)
        }
        setup.report(.listening)
    }

    package func receive(_ message: WorkerMessage) {
        switch message {
        case .install: installations.append(loop.now)
        case .drain: drains = loop.now
        case .close: closes = loop.now
        case .announceDrain, .stopAccepting, .heartbeat, .setLogLevel, .takeSnapshot, .readRecent:
            break
        }
        worker?.receive(message)
    }

    /// The worker has ended; in the daemon its loop would end now.
    private func workEnded() {
        if drains != nil { drained = loop.now } else { closed = loop.now }
        inbox.close()
        setup.report(.ended(openHandles: []))
    }

    /// Resources that are still open after its end, one line each.
    package func leftovers() -> [String] {
        var left = loop.leftovers
        if drains != nil, drained == nil { left.append("a drain that never ended") }
        if drains == nil, closed == nil { left.append("a close that never ended") }
        if !handle.hasEnded { left.append("a worker whose end was never reported") }
        worker = nil
        if instance != nil { left.append("the gateway instance, which is still referenced") }
        return left
    }

    /// Work in progress, one line each. There must be none when all clients have disconnected.
    package var unfinishedWork: [String] {
        guard drains == nil, let snapshot = instance?.snapshot else { return [] }
        var unfinishedWork: [String] = []
        if !snapshot.requests.isEmpty {
            unfinishedWork.append("\(snapshot.requests.count) requests")
        }
        if snapshot.connections > 0 { unfinishedWork.append("\(snapshot.connections) connections") }
        if snapshot.connections == 0, snapshot.bufferedBytes != 0 {
            unfinishedWork.append("\(snapshot.bufferedBytes) buffered bytes")
        }
        for backend in snapshot.backends where backend.running + backend.waiting > 0 {
            unfinishedWork.append(
                "\(backend.running) calls running and \(backend.waiting) waiting at \(backend.name)"
            )
        }
        return unfinishedWork
    }
}
