import Rehearsal
import SimReactor

/// What a number of seeds reached. A simulation that never meets a fault proves nothing about it.
package struct Coverage: Sendable {
    /// Number of responses by status.
    package private(set) var statuses: [Int: Int] = [:]
    /// Number of failures that responses list, by kind.
    package private(set) var failures: [String: Int] = [:]
    /// Number of times that a host was certainly unavailable to a worker, by reason.
    package private(set) var unavailable: [UnavailabilityReason: Int] = [:]
    /// How often each behaviour took place.
    package private(set) var behaviours: [String: Int] = [:]
    /// Number of runs in which each fault could happen.
    package private(set) var faults: [Fault: Int] = [:]

    /// The statuses and the kinds of failures that enough seeds must reach.
    private static let statuses = [
        200, 204, 400, 401, 403, 404, 405, 408, 413, 414, 415, 421, 429, 431, 501, 502, 503, 504,
    ]
    private static let failures = [
        "connection_refused", "connection_timeout", "dns_error", "connection_terminated",
        "http_response_timeout", "http_response_incomplete", "http_response_body_size",
        "http_protocol_error", "tls_certificate_error", "unexpected_status", "invalid_json",
        "invalid_shape", "breaker_open", "queue_full", "skipped", "collision",
        "destination_unavailable",
    ]

    package init() {}

    init(of records: [RunRecord]) {
        for record in records { add(record) }
    }

    /// Whatever none of the seeds reached.
    package var missing: [String] {
        func names<Key: Hashable>(_ keys: [Key], without counts: [Key: Int]) -> [String] {
            keys.filter { counts[$0, default: 0] == 0 }.map { "\($0)" }
        }
        return names(Self.statuses, without: statuses) + names(Self.failures, without: failures)
            + names(UnavailabilityReason.allCases, without: unavailable)
            + names(Behaviour.all.map(\.name), without: behaviours)
            + names(Fault.allCases, without: faults)
    }

    /// The behaviours that took place, and how often.
    package var reached: [String] {
        Behaviour.all.compactMap { behaviour in
            behaviours[behaviour.name].flatMap { $0 == 0 ? nil : "\(behaviour.name) \($0)" }
        }
    }

    package mutating func add(_ other: Coverage) {
        statuses.merge(other.statuses, uniquingKeysWith: +)
        failures.merge(other.failures, uniquingKeysWith: +)
        unavailable.merge(other.unavailable, uniquingKeysWith: +)
        behaviours.merge(other.behaviours, uniquingKeysWith: +)
        faults.merge(other.faults, uniquingKeysWith: +)
    }

    private mutating func add(_ record: RunRecord) {
        for fault in record.rates.active { faults[fault, default: 0] += 1 }
        let run = BehaviourEvidence(record)
        unavailable[.ejected, default: 0] += run.hosts.ejected
        unavailable[.unhealthy, default: 0] += run.hosts.unhealthy
        for behaviour in Behaviour.all {
            behaviours[behaviour.name, default: 0] += behaviour.count(run)
        }
        for response in record.requests.compactMap({ $0?.response }) {
            statuses[response.status, default: 0] += 1
            for failure in ListedFailure.all(of: response) {
                failures[failure.kind.rawValue, default: 0] += 1
            }
        }
    }
}

/// Why a host is not called.
package enum UnavailabilityReason: CaseIterable, Sendable {
    /// Its calls failed.
    case ejected
    /// It failed its health checks.
    case unhealthy
}
