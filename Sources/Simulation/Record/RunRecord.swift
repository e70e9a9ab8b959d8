import Basics
import Rehearsal
import SimReactor

/// What happened in one run of a cluster, as values: checkers, models and reports read this record, and
/// nothing that is alive.
package struct RunRecord {
    let plan: ClusterPlan
    let began: Instant
    let ended: Instant
    /// How the network behaved.
    let network: SimNetwork.Settings
    let workers: [WorkerRecord]
    let clients: [ClientRecord]
    /// Every request that a client began to send, by its number.
    let requests: [RequestRecord?]
    /// Requests of calls that hosts received, in order of arrival.
    let attempts: [AttemptRecord]
    /// Health checks that hosts received, in order of arrival.
    let probes: [ProbeRecord]
    /// Lines of the logs of all workers.
    let log: [Tree]
    /// Hash of everything that happened on the network.
    let hash: UInt64
    /// What was wrong already while it ran: errors that peers detected, and what was left at the end.
    let violations: [Violation]
    /// Places in `attempts`, by the request's number.
    private let attemptsByRequest: [[Int]]

    init(
        plan: ClusterPlan, began: Instant, ended: Instant, network: SimNetwork.Settings,
        workers: [WorkerRecord], clients: [ClientRecord], attempts: [AttemptRecord],
        probes: [ProbeRecord], log: [Tree], hash: UInt64, violations: [Violation]
    ) {
        self.plan = plan
        self.began = began
        self.ended = ended
        self.network = network
        self.workers = workers
        self.clients = clients
        self.attempts = attempts
        self.probes = probes
        self.log = log
        self.hash = hash
        self.violations = violations
        let count = plan.requestCount
        var requests = [RequestRecord?](repeating: nil, count: count)
        for request in clients.flatMap(\.sent) { requests[request.number] = request }
        self.requests = requests
        var places = [[Int]](repeating: [], count: count)
        for (place, attempt) in attempts.enumerated() { places[attempt.request].append(place) }
        attemptsByRequest = places
    }

    var configs: [DrawnConfig] { plan.configs }
    var rates: FaultRates { plan.rates }
    var weather: HostOutages { plan.weather }
    var reloads: [Int] { plan.reloads }
    var drains: Int? { plan.drains }

    /// Attempts for a request, in order of arrival.
    func attempts(of request: RequestRecord) -> [AttemptRecord] {
        attemptsByRequest[request.number].map { attempts[$0] }
    }

    /// The request that an attempt was made for.
    func request(of attempt: AttemptRecord) -> RequestRecord? { requests[attempt.request] }

    /// What the configuration says of the call of an attempt.
    func call(of attempt: AttemptRecord) -> DrawnCall {
        configs[attempt.call.generation].endpoints[attempt.call.endpoint].calls[attempt.call.call]
    }

    /// Milliseconds since the run began.
    func ms(_ moment: Instant) -> Double { (moment - began).inMilliseconds }
}

/// One worker of the gateway.
struct WorkerRecord {
    let name: String
    /// When it received each configuration but the first.
    let installations: [Instant]
    /// When it began to drain.
    let drains: Instant?
    /// When its work was over: its drain ended, or it was closed.
    let ended: Instant?
}
