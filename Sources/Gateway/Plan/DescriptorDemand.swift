import HTTP

/// How many file descriptors one worker can need, depending on the connections that it accepts.
struct DescriptorDemand {
    /// The limits of the connections to one backend.
    struct BackendLimits: Equatable {
        /// `max_concurrent`, the worker's share.
        let concurrentMax: Int?
        /// The most calls of one request to it; a hedged call counts twice.
        let callsPerRequest: Int
        /// Whether requests are passed through to it: a stream keeps its connection.
        var isProxied = false
        /// Health checks at once: one for each host.
        let checks: Int
    }

    let requestsInFlightMax: Int
    /// Streams, which do not count as requests in flight.
    var streamsMax = 0
    let backends: [BackendLimits]

    /// The largest number of connections, from 1 to `configured`, that leaves enough descriptors
    /// for the calls of their requests. At most half of the descriptors are kept for calls: their
    /// worst case is many times their usual need. If calls need more than that half, single calls
    /// fail.
    func connectionsMax(configured: Int, available: Int) -> Int {
        let callsMax = available / 2
        let fits = { (connections: Int) in
            connections + ServerSettings.refusedConnections(besides: connections)
                + min(callsMax, descriptors(forCallsOf: connections)) <= available
        }
        // The demand grows with the connections, so a binary search finds the last number that
        // fits.
        var (least, most) = (1, min(configured, max(1, available)))
        while least < most {
            let middle = least + (most - least + 1) / 2
            if fits(middle) { least = middle } else { most = middle - 1 }
        }
        return least
    }

    /// Descriptors for connections to backends, including idle ones: a pool never has more of them
    /// than were once in use at the same time.
    func descriptors(forCallsOf connections: Int) -> Int {
        let requests = min(connections, requestsInFlightMax)
        return backends.reduce(0) { sum, backend in
            let (calls, overflow) = requests.multipliedReportingOverflow(
                by: backend.callsPerRequest)
            let streams = backend.isProxied ? min(connections - requests, streamsMax) : 0
            let most = min(
                backend.concurrentMax ?? .max, (overflow ? .max : calls).addingSaturating(streams))
            return sum.addingSaturating(most).addingSaturating(backend.checks)
        }
    }
}

extension DescriptorDemand {
    init(_ plan: Plan) {
        requestsInFlightMax = plan.server.requestsInFlight
        streamsMax = plan.server.streams
        backends = plan.backends.map { backend in
            BackendLimits(
                concurrentMax: backend.concurrency?.concurrentMax,
                callsPerRequest: plan.endpoints.map { $0.calls(to: backend.index) }.max() ?? 0,
                isProxied: plan.endpoints.contains { $0.proxy?.backend == backend.index },
                checks: backend.health == nil ? 0 : backend.hosts.count)
        }
    }
}

extension EndpointPlan {
    /// The connections to a backend that one request can use at once.
    fileprivate func calls(to backend: Int) -> Int {
        calls.reduce(proxy?.backend == backend ? 1 : 0) { sum, call in
            guard call.backend == backend else { return sum }
            return sum + (call.hedgeAfter == nil ? 1 : 2)
        }
    }
}

extension Int {
    fileprivate func addingSaturating(_ other: Int) -> Int {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
