import Assembly
import Basics
import Gateway
import HTTP
import JSONText
import Promises
import Reactor

/// What happened at the endpoints, their calls and the backends as JSON: `GET /-/overview`. Counts
/// begin with the process; times, and the counts of calls, cover the last 30 to 60 seconds.
extension AdminPages {
    static func overview(
        _ pages: AdminPages, _: Request, _ exchange: Exchange
    ) -> LocalPromise<AdminResponse> {
        pages.process.monitor.recent.collect { _ in .overview }.map { [pages] answers in
            let overview = ProcessOverview(answers)
            return .body(
                .ok,
                Bytes(
                    overview.json(
                        pages.process.identity, isServing: pages.process.isServing,
                        pages.process.diagnostics.reload, unixTime: pages.loop.unixTime,
                        missing: answers.missing)))
        }
    }
}

/// The overviews of all workers together.
struct ProcessOverview {
    /// In the order of the configuration.
    private(set) var endpoints: [EndpointSummary] = []
    private(set) var elsewhere = EndpointSummary("", isPadded: false)
    private(set) var backends: [BackendSummary] = []
    private(set) var connections = 0
    private(set) var requestsInFlight = 0

    /// The endpoints with the most requests are shown, so that the page stays small.
    static let endpointsMax = 200

    init(_ answers: RecentCollector.Answers) {
        for case (_, .overview(let overview)) in answers.contents { add(overview) }
    }

    private mutating func add(_ overview: WorkerOverview) {
        elsewhere.add(overview.elsewhere)
        connections += overview.connections
        requestsInFlight += overview.requestsInFlight
        var places = Dictionary(
            endpoints.indices.map { (endpoints[$0].name, $0) },
            uniquingKeysWith: { first, _ in first })
        for endpoint in overview.endpoints {
            let place = places[endpoint.names.name] ?? endpoints.count
            if place == endpoints.count {
                places[endpoint.names.name] = place
                endpoints.append(
                    EndpointSummary(endpoint.names.name, isPadded: endpoint.names.isPadded))
            }
            endpoints[place].add(endpoint)
        }
        for activity in overview.backends {
            if let place = backends.firstIndex(where: { $0.name == activity.state.name }) {
                backends[place].add(activity)
            } else {
                backends.append(BackendSummary(activity))
            }
        }
    }

    func json(
        _ identity: ProcessIdentity, isServing: Bool, _ reload: ReloadStatus, unixTime: Int64,
        missing: [Int]
    ) -> [UInt8] {
        var json: [UInt8] = []
        json.appendObject { json in
            json.append("at_ms", Int(unixTime / 1_000_000))
            json.append("instance", text: identity.instance)
            json.append("version", text: identity.version)
            json.append("config", text: identity.config)
            json.append("config_age_s", Int(identity.configAge.components.seconds))
            json.append("serving", flag: isServing)
            if let last = reload.last, last.result != .succeeded {
                Self.append(last, unixTime, to: &json)
            }
            json.append(missingWorkers: missing)
            json.append("connections", connections)
            json.append("requests_in_flight", requestsInFlight)
            append(times: EndpointSummary.times(of: endpoints + [elsewhere]), to: &json)
            let shown = shownEndpoints
            json.append("endpoints", list: shown) { $1.append(to: &$0) }
            json.append("endpoints_left_out", endpoints.count - shown.count)
            json.append("unmatched", list: [elsewhere]) { $1.append(to: &$0) }
            json.append("backends", list: backends) { $1.append(to: &$0, endpoints) }
        }
        return json
    }

    /// A reload that did not install the present files.
    private static func append(
        _ reload: ReloadStatus.Reload, _ unixTime: Int64, to json: inout [UInt8]
    ) {
        json.append(key: "failed_reload")
        json.appendObject { json in
            json.append("age_s", Int(max(0, unixTime - reload.endedAt) / 1_000_000_000))
            json.append("problem", text: reload.problems.first ?? reload.result.rawValue)
        }
    }

    private var shownEndpoints: [EndpointSummary] {
        guard endpoints.count > Self.endpointsMax else { return endpoints }
        let busiest = endpoints.indices.sorted {
            (endpoints[$0].totals.requests, $1) > (endpoints[$1].totals.requests, $0)
        }
        return busiest.prefix(Self.endpointsMax).sorted().map { endpoints[$0] }
    }

    /// The times of all endpoints together.
    private func append(times: (requests: [UInt32], own: [UInt32]), to json: inout [UInt8]) {
        json.append("p50_ms", microseconds: EndpointSummary.quantile(0.5, of: times.requests))
        json.append("p99_ms", microseconds: EndpointSummary.quantile(0.99, of: times.requests))
        json.append("own_p50_ms", microseconds: EndpointSummary.quantile(0.5, of: times.own))
        json.append("own_p99_ms", microseconds: EndpointSummary.quantile(0.99, of: times.own))
    }
}
