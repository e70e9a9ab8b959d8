import Rehearsal

/// What a number of seeds came to: a simulation that never meets a fault proves nothing about it.
package struct Coverage: Sendable {
    /// Answers by their status.
    package private(set) var statuses: [Int: Int] = [:]
    /// Failures that answers told of, by their kind.
    package private(set) var failures: [String: Int] = [:]
    /// Hosts that a core certainly had to leave out, by the reason.
    package private(set) var leftOut: [LeftOut: Int] = [:]
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
        for answer in record.requests.compactMap({ $0?.answer }) {
            statuses[answer.status, default: 0] += 1
            for failure in ToldFailure.all(of: answer) {
                failures[failure.kind.rawValue, default: 0] += 1
            }
        }
    }
}

/// Why a host is not asked.
package enum LeftOut: CaseIterable, Sendable {
    /// Its calls failed.
    case ejected
    /// It did not answer its checks.
    case unwell
}
