import Assembly
import Basics
package import Gateway
import HTTP
import HTTPServer

/// The largest number of time series that `/metrics` has under a configuration: its labels come from
/// the configuration only.
///
/// Counted on a page that has every value of every label, so that no second list of metrics exists that
/// could differ from the first.
package struct SeriesBound {
    /// For the plan's number of workers.
    let count: Int
    private let perWorker: Int
    private let workers: Int

    package init(_ plan: Plan) {
        workers = max(1, plan.process.workers)
        let one = Self.count(plan, workers: 1)
        perWorker = Self.count(plan, workers: 2) - one
        count = one + (workers - 1) * perWorker
    }

    /// `at most 412 time series in /metrics, and 17 for each worker`: with `workers: auto` the number
    /// of workers depends on the machine.
    package var line: String {
        "at most \(count - workers * perWorker) time series in /metrics, and \(perWorker) for each worker"
    }

    private static func count(_ plan: Plan, workers: Int) -> Int {
        var writer = MetricsWriter(
            .prometheus, ExemplarClock(now: Instant(nanoseconds: 0), unixTime: 0))
        MetricsPage(facts, reports(plan, workers: workers)).write(to: &writer)
        return writer.sampleCount
    }

    private static var facts: ProcessFacts {
        ProcessFacts(
            version: "", digest: "", descriptors: ProcessFacts.Descriptors(limit: 0, open: 0),
            usage: ProcessFacts.Usage(cpuSeconds: 0, residentBytes: 0))
    }

    /// One worker with all counts; of the others only what has a label of its own for each worker.
    private static func reports(_ plan: Plan, workers: Int) -> [WorkerReport] {
        var snapshot = WorkerSnapshot(
            meter: meter(plan), backends: plan.backends.map(state), connections: 0,
            bufferedBytes: 0, requests: [])
        snapshot.endpointLoads = plan.endpoints.map { endpoint in
            EndpointLoad(
                name: endpoint.name, deadline: endpoint.deadline,
                inFlightMax: endpoint.inFlightMax)
        }
        snapshot.streams = [EndpointStreams](plan)
        snapshot.listeners = [ListenerUsage](plan.process.listeners)
        snapshot.authResults = plan.authenticators.map {
            AuthResults(name: $0.name, keysAge: $0.tokens?.fetchesKeys == true ? 0 : nil)
        }
        snapshot.limitUsages = plan.limits.map {
            LimitUsage(name: $0.name, granted: 0, refused: 0, refunded: 0)
        }
        snapshot.tls = TLSState(plan.process.listeners)
        let store = plan.store.map { _ in StoreState(isUp: true, counts: StoreCounts()) }
        snapshot.store = store
        var empty = WorkerSnapshot(
            meter: WorkerMetrics(), backends: [], connections: 0, bufferedBytes: 0, requests: [])
        empty.store = store
        return (0..<workers).map { worker in
            WorkerReport(
                worker: worker, isUp: true, heartbeatAge: .zero,
                snapshot: worker == 0 ? snapshot : empty)
        }
    }

    private static func state(_ backend: BackendPlan) -> BackendState {
        var state = BackendState(name: backend.name)
        state.runningMax = backend.hasConcurrencyLimit ? 0 : nil
        state.hosts = backend.hostNames.map { BackendState.Host(name: $0, isUsable: true) }
        return state
    }

    private static func meter(_ plan: Plan) -> WorkerMetrics {
        var meter = WorkerMetrics(plan)
        let entry = entryStatuses(plan)
        for (index, endpoint) in plan.endpoints.enumerated() {
            meter.show(statuses(of: endpoint).union(entry), ofEndpoint: index)
            if endpoint.parts != nil { meter.showFirstParts(ofEndpoint: index) }
        }
        meter.show([], elsewhere: ownStatuses + entry)
        let lists = plan.endpoints.flatMap(\.calls).filter { $0.list != nil }
        meter.showCalls(withLists: Set(lists.map { plan.backends[$0.backend].name }))
        return meter
    }

    /// The statuses of refusals that do not depend on the endpoint, as far as they are configured.
    private static func entryStatuses(_ plan: Plan) -> [UInt16] {
        let entry = plan.entry
        var statuses: [Status] = []
        if entry.hosts != nil { statuses.append(.misdirectedRequest) }
        if entry.clients != nil || entry.userAgents != nil { statuses.append(.forbidden) }
        if plan.process.listeners.contains(where: { $0.redirect != nil }) {
            statuses.append(.permanentRedirect)
        }
        return statuses.map(\.code)
    }

    /// The statuses that a response of an endpoint can have. One with `proxy` passes on all.
    private static func statuses(of endpoint: EndpointPlan) -> Set<UInt16> {
        var statuses = Set(ownStatuses)
        statuses.insert(endpoint.partialStatus.code)
        if let status = endpoint.respond?.status { statuses.insert(status.code) }
        if endpoint.proxy != nil { statuses.formUnion([101] + Array(200...599)) }
        for range in endpoint.calls.flatMap(\.relayStatus) {
            statuses.formUnion(range.compactMap { UInt16(exactly: $0) })
        }
        if endpoint.auth != nil { statuses.formUnion([401, 403, 429]) }
        if endpoint.clients != nil { statuses.insert(403) }
        if !endpoint.limits.isEmpty { statuses.insert(429) }
        return statuses
    }

    /// The statuses of the gateway's own responses, and what is written where none was sent.
    static let ownStatuses: [UInt16] =
        [
            .ok, .badRequest, .notFound, .methodNotAllowed, .requestTimeout, .contentTooLarge,
            .uriTooLong, .expectationFailed, .unprocessableContent, .headerFieldsTooLarge,
            .internalServerError, .notImplemented, .badGateway, .serviceUnavailable,
            .gatewayTimeout, .versionNotSupported,
        ].map { (status: Status) in status.code }
        + [ServerHooks.ExchangeEnd.clientGone, ServerHooks.ExchangeEnd.cutOff, 415]
}
