package import Basics

/// The counts of one worker since its start. Plain numbers without locks: the control loop requests
/// a snapshot with a message and gets this value back.
package struct WorkerMetrics: Sendable {
    /// The responses of one endpoint.
    package struct Endpoint: Sendable {
        package let name: String
        /// The number of responses of each status, by ascending status.
        package fileprivate(set) var statuses: [(code: UInt16, count: Int)] = []
        /// From the head to the last byte handed to the kernel.
        package fileprivate(set) var durations = Histogram()

        package init(name: String) {
            self.name = name
        }
    }

    package private(set) var endpoints: [Endpoint]
    /// Responses without an endpoint: unknown routes, malformed requests.
    package private(set) var elsewhere = Endpoint(name: "")

    package init(endpointNames: [String]) {
        endpoints = endpointNames.map { Endpoint(name: $0) }
    }

    /// Adds the endpoints of a new plan; known endpoints keep their counts.
    package mutating func addEndpoints(named names: [String]) {
        for name in names.dropFirst(endpoints.count) { endpoints.append(Endpoint(name: name)) }
    }

    /// Counts one response; 499 is a client that disconnected, 0 a request that was cut off.
    package mutating func count(endpoint: Int?, status: UInt16, after duration: Duration) {
        guard let endpoint, endpoints.indices.contains(endpoint) else {
            elsewhere.count(status, duration)
            return
        }
        endpoints[endpoint].count(status, duration)
    }

    /// Adds the counts of another worker, matched by name.
    package mutating func add(_ other: WorkerMetrics) {
        elsewhere.add(other.elsewhere)
        for endpoint in other.endpoints {
            if let index = endpoints.firstIndex(where: { $0.name == endpoint.name }) {
                endpoints[index].add(endpoint)
            } else {
                endpoints.append(endpoint)
            }
        }
    }
}

extension WorkerMetrics.Endpoint {
    fileprivate mutating func count(_ status: UInt16, _ duration: Duration) {
        add(status, 1)
        durations.record(duration)
    }

    fileprivate mutating func add(_ other: WorkerMetrics.Endpoint) {
        for (code, count) in other.statuses { add(code, count) }
        durations.add(other.durations)
    }

    private mutating func add(_ code: UInt16, _ count: Int) {
        let place = statuses.firstIndex { $0.code >= code } ?? statuses.count
        if place < statuses.count, statuses[place].code == code {
            statuses[place].count += count
        } else {
            statuses.insert((code, count), at: place)
        }
    }
}
