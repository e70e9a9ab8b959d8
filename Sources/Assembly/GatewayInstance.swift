package import Basics
package import Gateway
import HTTP
import HTTPClient
import HTTPServer
package import Promises
package import Reactor

/// The gateway of one worker: the server for the clients, the gateway service, the connection pools
/// of the backends, and the log.
///
/// Built on its worker's thread and confined to it. It does not depend on libuv: the simulation
/// runs the same code. The server passes each request to the gateway service through one closure.
package final class GatewayInstance {
    private let loop: any Loop
    private let pools: ConnectionPools
    private let log: Log
    private let recorder: RequestRecorder
    private let installed: Installed
    private let limits: LimitTable
    private var server: Server?
    /// The connection to the store; nil without `store`.
    private var store: LimitStore?
    private let storeHistory = StoreHistory()
    private var temporaryLogLevel: Log.Level?
    /// As they are bound, with the TLS and the redirects of the present configuration.
    private var listeners: [ListenPlan]
    private let listenerResources: ListenerResources

    /// Holds the gateway service for new requests. A separate object, so that the server, which the
    /// instance owns, needs no reference to the instance.
    private final class Installed {
        var gateway: GatewayService

        init(_ gateway: GatewayService) {
            self.gateway = gateway
        }
    }

    /// - Parameters:
    ///   - shared: the resources of the process
    ///   - traces: receives sampled requests; nil if nothing exports them
    package init(
        _ plan: Plan, loop: any Loop, log: Log, shared: SharedResources,
        traces: (([TracedRequest]) -> Void)? = nil
    ) {
        self.loop = loop
        self.log = log
        pools = ConnectionPools(loop: loop)
        limits = shared.limits
        listeners = plan.process.listeners
        listenerResources = shared.listeners
        recorder = RequestRecorder(loop: loop, log: log, spans: shared.spans, traces: traces)
        // The metrics know endpoints and calls by these numbers, also after a reload.
        let metricNumbers = recorder.adopt(plan)
        store = plan.store.map { [storeHistory] in
            LimitStore($0, loop: loop, log: log, history: storeHistory)
        }
        installed = Installed(
            GatewayService(
                plan, endpointNumbers: metricNumbers.endpoints,
                callNumbers: metricNumbers.calls, pools: pools, store: store, loop: loop,
                limits: limits, log: log))
        // Drains no pool yet; it resets the marks by which a reload finds the unused pools.
        pools.retireUnused()
        var hooks = recorder.hooks
        hooks.rejection = { [installed] response, request, exchange in
            installed.gateway.reject(with: response, request, exchange.context)
        }
        hooks.isProxy = { [installed] in installed.gateway.plan.proxies.trusts(peer: $0) }
        let handshakeLog = HandshakeLog(log)
        hooks.handshakeFailed = { [unowned loop] failure, client in
            handshakeLog.recordFailure(failure, from: client, at: loop.now)
        }
        server = Server(
            loop: loop, settings: plan.server,
            listeners: listeners.map { $0.settings(shared.listeners) }, hooks: hooks,
            clientConnections: shared.clientConnections
        ) { [installed] request, exchange in
            installed.gateway.handleRequest(request, exchange.context)
        }
        loop.memory.budget = server?.budget
        log.onFirstLine = { [loop, log] in
            loop.timer(after: Self.logDelay) { log.flush() }
        }
        let shortageLog = ShortageLog(log)
        loop.descriptors.onShortage = { [unowned loop] operation in
            shortageLog.record(operation, at: loop.now)
        }
    }

    /// Long enough to collect the lines of many requests, short enough to follow the log.
    private static let logDelay = Duration.milliseconds(100)

    /// Called with each request that has ended, while its record is complete; what is needed later has
    /// to be copied (`RecordedRequest`).
    package var onRequestEnded: ((RequestContext, _ status: UInt16, RequestOutcome) -> Void)? {
        get { recorder.onRequestEnded }
        set { recorder.onRequestEnded = newValue }
    }

    // MARK: Serving

    /// Begins to accept clients; returns the address, with the port that the system chose for port
    /// 0.
    ///
    /// - Parameter number: of the listener in the configuration
    package func listen(
        on address: SocketAddress, as number: Int = 0, sharedPort: Bool
    ) throws(IOFailure) -> SocketAddress {
        guard let server else { throw .cancelled }
        return try server.listen(on: address, as: number, sharedPort: sharedPort)
    }

    /// Takes ownership of a listener whose connections are passed to `accept`; a drain closes it.
    package func adopt(_ listener: any Listener, as number: Int) {
        if let server { server.adopt(listener, as: number) } else { listener.close() }
    }

    /// Serves a connection that a listener has accepted.
    package func accept(_ stream: any ByteStream, from number: Int) {
        if let server { server.accept(stream, from: number) } else { stream.close() }
    }

    /// Replaces the plan. Requests in flight finish on the old one; unchanged backends keep their
    /// connections and their state.
    package func install(_ plan: Plan) {
        let former = installed.gateway
        let formerStore = replaceStore(plan.store)
        let metricNumbers = recorder.adopt(plan)
        installed.gateway = GatewayService(
            plan, endpointNumbers: metricNumbers.endpoints, callNumbers: metricNumbers.calls,
            pools: pools, store: store, loop: loop, replacing: former, limits: limits, log: log)
        former.stopBackgroundWork()
        formerStore?.close()
        pools.retireUnused()
        log.level = temporaryLogLevel ?? plan.process.log.level.level
        listeners = listeners.applyingReload(of: plan.process.listeners)
        server?.adopt(plan.server, listeners: listeners.map { $0.settings(listenerResources) })
        log.write(.info, "configuration installed")
    }

    /// Connects to another store if its settings have changed; returns the former one, which the
    /// caller closes.
    private func replaceStore(_ plan: StorePlan?) -> LimitStore? {
        guard plan != store?.plan else { return nil }
        let former = store
        store = plan.map { LimitStore($0, loop: loop, log: log, history: storeHistory) }
        return former
    }

    /// Logs at this level, whatever the configuration says; nil ends that.
    package func setLogLevel(_ level: Log.Level?) {
        temporaryLogLevel = level
        log.level = level ?? installed.gateway.plan.process.log.level.level
    }

    /// From now on every response closes its connection; new connections are still accepted.
    package func announceDrain() {
        server?.announceDrain()
    }

    /// Accepts nothing more; connections that are open are still served.
    package func stopAccepting() {
        server?.stopAccepting()
    }

    /// Stops accepting; fulfils when the last request has its response or is cut off at the end of
    /// the drain time. The instance is closed then.
    package func drain() -> LocalPromise<Void> {
        guard let server else { return loop.local.value(()) }
        return server.drain()
            .timeout(installed.gateway.plan.process.drain.timeout)
            .recover { [loop, log] _ in
                log.write(.warning, "requests cut off at the end of the drain time") { line in
                    line.add("requests", server.exchanges.count)
                }
                let hasWebSockets = server.exchanges.map { $0.context.endWebSocket?() ?? false }
                    .contains(true)
                guard hasWebSockets else {
                    server.close()
                    return loop.local.value(())
                }
                return loop.local.after(WebSocketFrames.closeTime).map { server.close() }
            }
            .then { [self] in close() }
    }

    /// Closes everything at once; fulfils when the last connection is closed.
    package func close() -> LocalPromise<Void> {
        server?.close()
        loop.memory.budget = nil
        server = nil
        installed.gateway.stopBackgroundWork()
        recorder.close()
        store.take()?.close()
        log.onFirstLine = nil
        loop.descriptors.onShortage = { _ in }
        log.flush()
        return pools.close()
    }

    // MARK: Snapshot

    private var backendDetails: [BackendDetail] {
        installed.gateway.backendDetails.map { detail in
            var detail = detail
            detail.outcomes = recorder.meter.outcomes(ofBackend: detail.name).map {
                ($0.name, $0.count)
            }
            return detail
        }
    }

    /// The present state of the instance, as a value that may cross threads.
    package var snapshot: WorkerSnapshot {
        let exchanges = server?.exchanges.map(\.context) ?? []
        var snapshot = WorkerSnapshot(
            meter: recorder.meter.copy, backends: installed.gateway.backendStates,
            backendDetails: backendDetails,
            connections: server?.connectionCount ?? 0,
            bufferedBytes: server?.bufferedBytes ?? 0,
            descriptorShortages: loop.descriptors.shortages,
            requests: exchanges.map(recorder.state))
        snapshot.streams = [EndpointStreams](installed.gateway.plan)
        snapshot.streams.count(exchanges, names: recorder.endpointNames)
        snapshot.endpointLoads = installed.gateway.endpointLoads
        snapshot.authResults = installed.gateway.authResults
        snapshot.limitUsages = installed.gateway.limitUsages
        snapshot.loopIterations = loop.iterations.durations.copy
        snapshot.store = store?.state
        if let server {
            snapshot.listeners = [ListenerUsage](listeners, server.listenerConnections)
            snapshot.requestsInFlight = server.requestsInFlight
            snapshot.limits = ServerLimits(server.settings)
            snapshot.losses = server.losses
            snapshot.tls = TLSState(listeners)
            snapshot.tls?.handshakes = server.handshakes
            snapshot.tls?.inProgress = server.handshakesInProgress
            snapshot.tls?.inProgressMax = server.settings.handshakes
        }
        return snapshot
    }

    /// What was recorded about requests that have ended; nil without an admin address.
    package func answer(_ query: RecentQuery) -> RecentAnswer? {
        guard let recent = recorder.recent else { return nil }
        let now = loop.now.nanoseconds
        switch query.content {
        case .requests(let after, let max, let withSample):
            let list = recent.list(
                after: after, max: max, withSample: withSample, now: now, unixTime: loop.unixTime)
            return RecentAnswer(number: query.number, .requests(list))
        case .overview:
            var overview = recent.overview(at: now)
            overview.backends = installed.gateway.backendStates.map { state in
                BackendActivity(
                    state: state, outcomes: recorder.meter.outcomes(ofBackend: state.name))
            }
            overview.connections = server?.connectionCount ?? 0
            overview.requestsInFlight = server?.exchanges.count ?? 0
            return RecentAnswer(number: query.number, .overview(overview))
        }
    }
}
