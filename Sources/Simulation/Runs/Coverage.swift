import Rehearsal
import SimReactor

/// What a number of seeds came to: a simulation that never meets a fault proves nothing about it.
package struct Coverage: Sendable {
    /// Answers by their status.
    package private(set) var statuses: [Int: Int] = [:]
    /// Failures that answers told of, by their kind.
    package private(set) var failures: [String: Int] = [:]
    /// Hosts that a core certainly had to leave out, by the reason.
    package private(set) var leftOut: [LeftOut: Int] = [:]
    /// Behaviour that is drawn and really took place, with how often.
    package private(set) var behaviours: [Behaviour: Int] = [:]
    /// Runs in which a fault could happen.
    package private(set) var faults: [Fault: Int] = [:]

    /// Runs the seeds, each once.
    package static func of(_ seeds: some Sequence<UInt64>) -> Coverage {
        var coverage = Coverage()
        for seed in seeds { coverage.add(seed) }
        return coverage
    }

    private mutating func add(_ seed: UInt64) {
        let record = Cluster(seed: seed).run()
        for fault in record.rates.active { faults[fault, default: 0] += 1 }
        for model in HostsModel.all(of: record) {
            leftOut[.ejected, default: 0] += model.ejected.joined().count
            leftOut[.unwell, default: 0] += model.unwell.joined().count
        }
        for behaviour in Behaviour.allCases {
            behaviours[behaviour, default: 0] += behaviour.count(in: record)
        }
        for answer in record.requests.compactMap({ $0?.answer }) {
            statuses[answer.status, default: 0] += 1
            for failure in ToldFailure.all(of: answer) {
                failures[failure.kind.rawValue, default: 0] += 1
            }
        }
    }
}

/// Behaviour of the gateway that runs must reach, since they draw what leads to it.
package enum Behaviour: CaseIterable, Sendable {
    /// A call whose method is PATCH, or HEAD, was answered.
    case patchCalls, headCalls
    /// A call of `after` was made.
    case callsAfterOthers
    /// A call was made although an optional value was absent; one whose client sent it.
    case absentOptionalValues, presentOptionalValues
    /// A query parameter of the client went along because of `query: all`.
    case forwardedQueries
    /// A client was answered on a unix socket.
    case unixSockets
    /// A call, or a health check, went over TLS.
    case secureCalls, secureChecks
    /// A call went over TLS that does not verify, to a host with a wrong certificate.
    case unverifiedCalls
    /// A call asked for the name of `server_name`.
    case otherServerNames
    /// A host was ejected again, for longer than the first time.
    case grownEjections

    func count(in record: RunRecord) -> Int {
        switch self {
        case .patchCalls: answered(record) { $0.method == "PATCH" }
        case .headCalls: answered(record) { $0.method == "HEAD" }
        case .callsAfterOthers: answered(record) { !$0.after.isEmpty }
        case .absentOptionalValues:
            record.attempts.count { hasOptional($0, record, isThere: false) }
        case .presentOptionalValues:
            record.attempts.count { hasOptional($0, record, isThere: true) }
        case .forwardedQueries:
            record.attempts.count { attempt in
                record.configs[attempt.call.generation].endpoints[attempt.call.endpoint]
                    .forwardsAllQuery
                    && attempt.message.query.contains { ["tag", "debug"].contains($0.name) }
            }
        case .unixSockets:
            record.configs[0].listensOnUnixSocket
                ? record.requests.count { $0?.answer != nil } : 0
        case .secureCalls: record.attempts.count { $0.session != nil && $0.read != nil }
        case .secureChecks: record.probes.count { $0.session != nil && $0.read != nil }
        case .unverifiedCalls:
            record.attempts.count { attempt in
                attempt.session.map { !$0.certificateNames.contains($0.serverName) } ?? false
            }
        case .otherServerNames: record.attempts.count { $0.session?.serverName == DrawnTLS.alias }
        case .grownEjections: HostsModel.all(of: record).reduce(0) { $0 + $1.grownEjections }
        }
    }

    private func hasOptional(
        _ attempt: AttemptRecord, _ record: RunRecord, isThere: Bool
    ) -> Bool {
        guard let request = record.request(of: attempt) else { return false }
        let model = RequestModel(
            request: request.request, config: record.configs[attempt.call.generation])
        return record.call(of: attempt).uses.contains { use in
            use.isOptional && (model.value(of: use.source) != nil) == isThere
        }
    }

    private func answered(_ record: RunRecord, _ isMeant: (DrawnCall) -> Bool) -> Int {
        record.attempts.count { $0.read != nil && isMeant(record.call(of: $0)) }
    }
}

/// Why a host is not asked.
package enum LeftOut: CaseIterable, Sendable {
    /// Its calls failed.
    case ejected
    /// It did not answer its checks.
    case unwell
}
