import Basics
package import Gateway
import HTTP

/// The counts of one worker since its start. Plain numbers without locks: the control loop requests
/// a snapshot with a message and gets a copy.
package struct WorkerMetrics: Sendable {
    package private(set) var endpoints: [EndpointMetrics]
    /// Responses without an endpoint: unknown routes, malformed requests.
    package private(set) var elsewhere = EndpointMetrics(name: "")
    /// By call slot.
    package private(set) var calls: [CallMetrics]

    /// Requests that were refused by their address or host.
    package var refusals = RefusalCounts()

    package init(endpointNames: [String] = [], calls: [CallLabels] = []) {
        endpoints = endpointNames.map { EndpointMetrics(name: $0) }
        self.calls = calls.map { CallMetrics($0) }
    }

    /// The counts of a plan before its first request.
    package init(_ plan: Plan) {
        var slots = MetricSlots()
        _ = slots.numbers(of: plan)
        self.init(endpointNames: slots.endpointNames, calls: slots.calls)
    }

    /// Adds the endpoints and calls of a new plan; known ones keep their counts.
    package mutating func name(endpoints names: [String], calls labels: [CallLabels]) {
        for name in names.dropFirst(endpoints.count) {
            endpoints.append(EndpointMetrics(name: name))
        }
        for labels in labels.dropFirst(calls.count) { calls.append(CallMetrics(labels)) }
    }

    // MARK: Counting

    /// Counts a request that has ended, with its calls: one pass over its record, without an
    /// allocation or a look-up by name.
    ///
    /// - Parameter status: 499 is a client that disconnected, 0 a request that was cut off
    package mutating func count(
        _ record: RequestRecord, endpoint: Int?, status: UInt16, _ outcome: RequestOutcome,
        _ exemplar: Exemplar
    ) {
        let recorded = record.endpoint
        let hidesOwnTime = recorded?.isPadded ?? false
        if let endpoint, endpoints.indices.contains(endpoint) {
            endpoints[endpoint].count(
                record, status: status, outcome, hidesOwnTime: hidesOwnTime, exemplar)
        } else {
            elsewhere.count(record, status: status, outcome, hidesOwnTime: hidesOwnTime, exemplar)
        }
        if let recorded { countCalls(of: record, recorded, exemplar) }
    }

    /// Counts a response to input that was not a request.
    package mutating func countRefusal(_ status: UInt16) { elsewhere.countRefusal(status) }

    private mutating func countCalls(
        of record: RequestRecord, _ endpoint: RecordedEndpoint, _ exemplar: Exemplar
    ) {
        let (records, slots) = (record.calls, endpoint.callSlots)
        var hasRepetition = false
        for index in records.indices where slots.indices.contains(index) {
            if records[index].begunAttempts > 1 { hasRepetition = true }
            let slot = slots[index]
            guard calls.indices.contains(slot) else { continue }
            calls[slot].count(
                records[index], status: record.status(ofCall: index),
                hidesTimes: endpoint.isPadded, exemplar)
        }
        if hasRepetition { countRepetitions(record.attempts, records, slots) }
    }

    private mutating func countRepetitions(
        _ attempts: [AttemptRecord], _ records: [CallRecord], _ slots: [Int]
    ) {
        for attempt in attempts where attempt.permitted.hasHappened {
            switch attempt.cause {
            // Nothing was sent to the host that could not be reached.
            case .first, .otherHost: break
            case .retry, .hedge:
                let index = Int(attempt.call)
                guard slots.indices.contains(index), records.indices.contains(index),
                    calls.indices.contains(slots[index])
                else { continue }
                if case .retry = attempt.cause {
                    calls[slots[index]].countRetry()
                } else {
                    calls[slots[index]].countHedge(
                        Self.winner(records[index].decidingAttempt, of: attempts))
                }
            }
        }
    }

    private static func winner(
        _ deciding: UInt16?, of attempts: [AttemptRecord]
    ) -> CallMetrics.HedgeWinner {
        guard let deciding, attempts.indices.contains(Int(deciding)) else { return .none }
        return attempts[Int(deciding)].cause == .hedge ? .hedge : .first
    }

    // MARK: Reading

    /// How the calls to a backend ended, over all its calls; only outcomes that occurred.
    package func outcomes(ofBackend name: String) -> [CallMetrics.Outcome] {
        var sum = CallMetrics(CallLabels(backend: name))
        for call in calls where call.labels.backend == name { sum.add(call) }
        return sum.outcomes.filter { $0.count > 0 || ($0.name == "ok" && $0.status == "2xx") }
    }

    /// A copy that shares no memory with this value, so that counting goes on without copying.
    package var copy: WorkerMetrics {
        var copy = WorkerMetrics()
        copy.elsewhere = elsewhere.copy
        copy.endpoints = endpoints.map(\.copy)
        copy.calls = calls.map(\.copy)
        copy.refusals = refusals.copy
        return copy
    }

    /// Adds the counts of another worker, matched by name.
    package mutating func add(_ other: WorkerMetrics) {
        elsewhere.add(other.elsewhere)
        refusals.add(other.refusals)
        var places = Dictionary(
            endpoints.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        for endpoint in other.endpoints {
            if let place = places[endpoint.name] {
                endpoints[place].add(endpoint)
            } else {
                places[endpoint.name] = endpoints.count
                endpoints.append(endpoint)
            }
        }
        addCalls(of: other)
    }

    private mutating func addCalls(of other: WorkerMetrics) {
        var places = Dictionary(
            calls.enumerated().map { ($1.labels, $0) }, uniquingKeysWith: { first, _ in first })
        for call in other.calls {
            if let place = places[call.labels] {
                calls[place].add(call)
            } else {
                places[call.labels] = calls.count
                calls.append(call)
            }
        }
    }

    /// Makes statuses visible before they occur: those of the endpoints, and those without one.
    package mutating func show(_ codes: [UInt16], elsewhere others: [UInt16]) {
        for index in endpoints.indices { endpoints[index].show(codes) }
        elsewhere.show(others)
    }

    /// Makes statuses of one endpoint visible.
    package mutating func show(_ codes: some Sequence<UInt16>, ofEndpoint index: Int) {
        if endpoints.indices.contains(index) { endpoints[index].show(codes) }
    }
}
