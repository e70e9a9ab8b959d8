import Assembly
import Basics
import Gateway

/// The state of one backend, on all workers together.
struct BackendSummary {
    let name: String
    private var running: Int
    private var waiting: Int
    private var connections: Int
    /// Workers whose circuit breaker is open.
    private var openBreakers: Int
    private var unavailableHosts: Int
    /// Since the start of the process.
    private var outcomes: [CallMetrics.Outcome]

    init(_ activity: BackendActivity) {
        let state = activity.state
        name = state.name
        running = state.callsInProgress
        waiting = state.waiting
        connections = state.connections.count
        openBreakers = state.isOpen ? 1 : 0
        unavailableHosts = state.unavailableHosts
        outcomes = activity.outcomes
    }

    mutating func add(_ activity: BackendActivity) {
        let state = activity.state
        running += state.callsInProgress
        waiting += state.waiting
        connections += state.connections.count
        openBreakers += state.isOpen ? 1 : 0
        unavailableHosts += state.unavailableHosts
        for outcome in activity.outcomes {
            if let place = outcomes.firstIndex(where: {
                $0.name == outcome.name && $0.status == outcome.status
            }) {
                outcomes[place].count += outcome.count
            } else {
                outcomes.append(outcome)
            }
        }
    }

    /// - Parameter endpoints: those whose calls give the times
    func append(to json: inout [UInt8], _ endpoints: [EndpointSummary]) {
        var times = [UInt32](repeating: 0, count: LogLinearBuckets.count)
        for endpoint in endpoints { endpoint.add(callsTo: name, to: &times) }
        json.appendObject { json in
            json.append("name", text: name)
            json.append("p50_ms", microseconds: EndpointSummary.quantile(0.5, of: times))
            json.append("p99_ms", microseconds: EndpointSummary.quantile(0.99, of: times))
            json.append("running", running)
            json.append("waiting", waiting)
            json.append("connections", connections)
            json.append("breakers_open", openBreakers)
            json.append("hosts_unavailable", unavailableHosts)
            json.append("outcomes", list: outcomes.filter { $0.count > 0 }) { json, outcome in
                json.appendObject { json in
                    json.append("name", text: outcome.name)
                    if !outcome.status.isEmpty { json.append("status", text: outcome.status) }
                    json.append("count", outcome.count)
                }
            }
        }
    }
}
