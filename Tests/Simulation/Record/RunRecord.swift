import Assembly
import Basics
import HTTP
import Rehearsal
import SimReactor

/// The immutable record of one run of a cluster. Checkers, models and reports read only this record.
package struct RunRecord {
    let plan: ClusterPlan
    let began: Instant
    let ended: Instant
    /// Settings of the network.
    let network: SimNetwork.Settings
    let workers: [WorkerRecord]
    let clients: [ClientRecord]
    /// Every request that a client began to send, by its number.
    let requests: [RequestRecord?]
    /// Requests of calls that hosts received, in order of arrival.
    let attempts: [AttemptRecord]
    /// Attempts of streamed requests that hosts received, in order of arrival.
    let streamAttempts: [StreamAttempt]
    /// Health checks that hosts received, in order of arrival.
    let probes: [ProbeRecord]
    /// Lines of the logs of all workers.
    let log: [Tree]
    /// The records of requests that have ended, of all workers.
    let recorded: [RecordedRequest]
    /// Hash of everything that happened on the network.
    let hash: UInt64
    /// Violations found during the run: errors that peers detected, and leftovers at the end.
    let violations: [Violation]
    /// What the checkers accept without proof.
    let excuses = ExcuseLog()
    /// Indices in `attempts`, by the number of the request.
    private let attemptsByRequest: [[Int]]

    init(
        plan: ClusterPlan, began: Instant, ended: Instant, network: SimNetwork.Settings,
        workers: [WorkerRecord], clients: [ClientRecord], attempts: [AttemptRecord],
        streamAttempts: [StreamAttempt] = [], probes: [ProbeRecord], log: [Tree],
        recorded: [RecordedRequest],
        hash: UInt64,
        violations: [Violation]
    ) {
        self.plan = plan
        self.began = began
        self.ended = ended
        self.network = network
        self.workers = workers
        self.clients = clients
        self.attempts = attempts
        self.streamAttempts = streamAttempts
        self.probes = probes
        self.log = log
        self.recorded = recorded
        self.hash = hash
        self.violations = violations
        let count = plan.requestCount
        var requests = [RequestRecord?](repeating: nil, count: count)
        for request in clients.flatMap(\.sent) { requests[request.number] = request }
        self.requests = requests
        var indices = [[Int]](repeating: [], count: count)
        for (index, attempt) in attempts.enumerated() { indices[attempt.request].append(index) }
        attemptsByRequest = indices
    }

    var configs: [DrawnConfig] { plan.configs }
    var rates: FaultRates { plan.rates }
    var hostOutages: HostOutages { plan.hostOutages }
    var reloads: [Int] { plan.reloads }
    var drains: Int? { plan.drains }

    /// Attempts for a request, in order of arrival.
    func attempts(of request: RequestRecord) -> [AttemptRecord] {
        attemptsByRequest[request.number].map { attempts[$0] }
    }

    /// Attempts of a streamed request, in order of arrival.
    func streamAttempts(of request: RequestRecord) -> [StreamAttempt] {
        streamAttempts.filter { $0.key.number == request.number }
    }

    /// When the first attempt of any call of a request was sent, and under which configuration.
    func firstSent(for request: RequestRecord) -> (at: Instant, generation: Int)? {
        let sent =
            attempts(of: request).map { ($0.sent, $0.call.generation) }
            + streamAttempts(of: request).map { ($0.sentAt, $0.key.generation) }
        return sent.min { $0.0 < $1.0 }.map { (at: $0.0, generation: $0.1) }
    }

    /// The request that an attempt was made for.
    func request(of attempt: AttemptRecord) -> RequestRecord? { requests[attempt.request] }

    /// The configured call of an attempt.
    func call(of attempt: AttemptRecord) -> DrawnCall {
        configs[attempt.call.generation].endpoints[attempt.call.endpoint].calls[attempt.call.call]
    }

    /// Milliseconds since the run began.
    func ms(_ moment: Instant) -> Double { (moment - began).inMilliseconds }
}

/// A worker of the gateway.
struct WorkerRecord {
    let name: String
    /// When it received each configuration but the first.
    let installations: [Instant]
    /// When it began to drain.
    let drains: Instant?
    /// When its drain ended, or when it received the message to close.
    let ended: Instant?
}
