import Gateway

/// Numbers what the metrics count, across reloads: an endpoint keeps its number, and so its counts, as
/// long as its route is the same, and a call as long as its names are.
struct MetricSlots {
    private(set) var endpointNames: [String] = []
    /// Whether the endpoint pads its responses, so that its durations must not be published.
    private(set) var isPadded: [Bool] = []
    private(set) var calls: [CallLabels] = []
    private(set) var hosts: [HostLabels] = []

    private var endpointSlots: [String: Int] = [:]
    private var callSlots: [CallLabels: Int] = [:]
    private var hostSlots: [HostLabels: Int] = [:]
    /// By backend.
    private var namedHosts: [String: Int] = [:]

    /// The numbers of one plan.
    struct Numbers {
        /// In the plan's order.
        var endpoints: [Int] = []
        /// By endpoint; several calls have the same number where only their backend counts.
        var calls: [RecordedEndpoint.Slots] = []
    }

    mutating func numbers(of plan: Plan) -> Numbers {
        var numbers = Numbers()
        let isPerCall = plan.process.metrics.perCall
        let backends = plan.backends.map(\.name)
        // Also a backend that no endpoint calls is shown.
        if !isPerCall { for name in backends { _ = slot(of: CallLabels(backend: name)) } }
        var (hosts, firstHosts) = ([Int](), [Int]())
        for backend in plan.backends {
            firstHosts.append(hosts.count)
            for host in backend.hostNames { hosts.append(slot(ofHost: host, of: backend.name)) }
        }
        for endpoint in plan.endpoints {
            numbers.endpoints.append(slot(of: endpoint))
            var calls = endpoint.calls.map { (name: $0.name, backend: $0.backend) }
            if let proxy = endpoint.proxy { calls.append((ProxyPlan.callName, proxy.backend)) }
            let slots = calls.map { call in
                let backend = backends[call.backend]
                guard isPerCall else { return slot(of: CallLabels(backend: backend)) }
                return slot(
                    of: CallLabels(backend: backend, endpoint: endpoint.name, call: call.name))
            }
            numbers.calls.append(
                RecordedEndpoint.Slots(
                    calls: slots, firstHosts: calls.map { firstHosts[$0.backend] }, hosts: hosts,
                    isProxied: endpoint.proxy != nil))
        }
        return numbers
    }

    private mutating func slot(of endpoint: EndpointPlan) -> Int {
        let isPadded = endpoint.padding != nil
        if let slot = endpointSlots[endpoint.name] {
            self.isPadded[slot] = isPadded
            return slot
        }
        endpointNames.append(endpoint.name)
        self.isPadded.append(isPadded)
        endpointSlots[endpoint.name] = endpointNames.count - 1
        return endpointNames.count - 1
    }

    private mutating func slot(of labels: CallLabels) -> Int {
        if let slot = callSlots[labels] { return slot }
        calls.append(labels)
        callSlots[labels] = calls.count - 1
        return calls.count - 1
    }

    private mutating func slot(ofHost name: String, of backend: String) -> Int {
        let labels = HostLabels(backend: backend, host: name)
        if let slot = hostSlots[labels] { return slot }
        guard namedHosts[backend, default: 0] < HostLabels.namedMax else {
            let others = HostLabels(backend: backend, host: HostLabels.others)
            return hostSlots[others] ?? append(others)
        }
        namedHosts[backend, default: 0] += 1
        return append(labels)
    }

    private mutating func append(_ labels: HostLabels) -> Int {
        hosts.append(labels)
        hostSlots[labels] = hosts.count - 1
        return hosts.count - 1
    }
}

/// What the counts of calls are divided by: backends, or with `metrics.per_call` single calls.
package struct CallLabels: Sendable, Hashable {
    package let backend: String
    /// Nil without `metrics.per_call`, like the next.
    package let endpoint: String?
    package let call: String?

    package init(backend: String, endpoint: String? = nil, call: String? = nil) {
        self.backend = backend
        self.endpoint = endpoint
        self.call = call
    }
}
