import Basics
package import Gateway
package import HTTP

/// The counts of one worker since its start. Plain numbers without locks: the control loop requests
/// a snapshot with a message and gets a copy.
package struct WorkerMetrics: Sendable {
    package private(set) var endpoints: [EndpointMetrics]
    /// Responses without an endpoint: unknown routes, malformed requests.
    package private(set) var elsewhere = EndpointMetrics(name: "")
    /// By call slot.
    package private(set) var calls: [CallMetrics]
    /// By host slot.
    package private(set) var hosts: [HostMetrics]
    /// Requests by version of HTTP.
    private var versions = [Int](repeating: 0, count: HTTPVersion.allCases.count)

    /// Requests that were refused by their address or host.
    package var refusals = RefusalCounts()

    package init(
        endpointNames: [String] = [], calls: [CallLabels] = [], hosts: [HostLabels] = []
    ) {
        endpoints = endpointNames.map { EndpointMetrics(name: $0) }
        self.calls = calls.map { CallMetrics($0) }
        self.hosts = hosts.map { HostMetrics($0) }
    }

    /// The counts of a plan before its first request.
    package init(_ plan: Plan) {
        var slots = MetricSlots()
        _ = slots.numbers(of: plan)
        self.init(endpointNames: slots.endpointNames, calls: slots.calls, hosts: slots.hosts)
    }

    /// Adds the endpoints, calls and hosts of a new plan; known ones keep their counts.
    mutating func adopt(_ slots: MetricSlots) {
        for name in slots.endpointNames.dropFirst(endpoints.count) {
            endpoints.append(EndpointMetrics(name: name))
        }
        for labels in slots.calls.dropFirst(calls.count) { calls.append(CallMetrics(labels)) }
        for labels in slots.hosts.dropFirst(hosts.count) { hosts.append(HostMetrics(labels)) }
    }

    // MARK: Counting

    /// Counts a request that has ended, with its calls: one pass over its record, without an
    /// allocation or a look-up by name.
    package mutating func count(_ record: RequestRecord, endpoint: Int?, _ end: CountedEnd) {
        let recorded = record.endpoint
        let hidesOwnTime = recorded?.isPadded ?? false
        if let endpoint, endpoints.indices.contains(endpoint) {
            endpoints[endpoint].count(record, end, hidesOwnTime: hidesOwnTime)
        } else {
            elsewhere.count(record, end, hidesOwnTime: hidesOwnTime)
        }
        versions[Int(end.version.rawValue)] &+= 1
        guard let recorded else { return }
        countCalls(of: record, recorded, end.exemplar)
        countAttempts(of: record, recorded.slots, end)
    }

    /// Counts a response to input that was not a request.
    package mutating func countRefusal(_ status: UInt16) { elsewhere.countRefusal(status) }

    private mutating func countCalls(
        of record: RequestRecord, _ endpoint: RecordedEndpoint, _ exemplar: Exemplar
    ) {
        let (records, slots) = (record.calls, endpoint.slots.calls)
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
        for list in record.lists where slots.indices.contains(list.call) {
            guard calls.indices.contains(slots[list.call]) else { continue }
            calls[slots[list.call]].count(list)
        }
    }

    private mutating func countAttempts(
        of record: RequestRecord, _ slots: RecordedEndpoint.Slots, _ end: CountedEnd
    ) {
        for (index, attempt) in record.attempts.enumerated()
        where attempt.permitted.hasHappened {
            guard let slot = slots.host(of: attempt), hosts.indices.contains(slot) else { continue }
            let isDeciding = record.calls.first?.decidingAttempt.map { Int($0) } == index
            // The bodies of the call went from and to the client, as far as they went.
            slots.isProxied
                ? hosts[slot].count(
                    attempt, received: isDeciding && attempt.status > 0 ? end.bodyBytes : 0,
                    sent: record.bodyBytes)
                : hosts[slot].count(
                    attempt, received: Int(attempt.bodyBytes), sent: Int(attempt.requestBytes))
        }
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
        copy.hosts = hosts.map { $0 }
        copy.versions = versions.map { $0 }
        copy.refusals = refusals.copy
        return copy
    }

    /// Requests over a version of HTTP.
    package subscript(version: HTTPVersion) -> Int { versions[Int(version.rawValue)] }

    /// Adds the counts of another worker, matched by name.
    package mutating func add(_ other: WorkerMetrics) {
        elsewhere.add(other.elsewhere)
        refusals.add(other.refusals)
        for index in versions.indices { versions[index] &+= other.versions[index] }
        endpoints.merge(other.endpoints, by: \.name) { $0.add($1) }
        calls.merge(other.calls, by: \.labels) { $0.add($1) }
        hosts.merge(other.hosts, by: \.labels) { $0.add($1) }
    }

    /// Removes the endpoints, calls and hosts that no request has used.
    package mutating func removeUnused() {
        endpoints.removeAll { !$0.isUsed }
        calls.removeAll { !$0.isUsed }
        hosts.removeAll { !$0.isUsed }
    }

    /// Makes calls and hosts visible before their first use.
    ///
    /// - Parameter backends: those whose calls have lists
    package mutating func showCalls(withLists backends: Set<String> = []) {
        for index in calls.indices {
            calls[index].show()
            if backends.contains(calls[index].labels.backend) { calls[index].showLists() }
        }
        for index in hosts.indices { hosts[index].show() }
    }

    /// Makes statuses visible before they occur: statuses of the endpoints, and statuses without one.
    package mutating func show(_ codes: [UInt16], elsewhere others: [UInt16]) {
        for index in endpoints.indices { endpoints[index].show(codes) }
        elsewhere.show(others)
    }

    /// Makes the histogram of first parts of one endpoint visible.
    package mutating func showFirstParts(ofEndpoint index: Int) {
        if endpoints.indices.contains(index) { endpoints[index].showFirstParts() }
    }

    /// Makes statuses of one endpoint visible.
    package mutating func show(_ codes: some Sequence<UInt16>, ofEndpoint index: Int) {
        if endpoints.indices.contains(index) { endpoints[index].show(codes) }
    }
}
