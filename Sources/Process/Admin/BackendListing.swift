import Assembly
import Basics
import Gateway
import HTTPClient

/// A backend as all workers see it: numbers are summed, and a state that is not the same on all of
/// them is listed by worker.
struct BackendListing {
    private let name: String
    /// At least one.
    private let details: [(worker: Int, backend: BackendDetail)]

    /// The backends in the order of the configuration.
    static func all(of reports: [WorkerReport]) -> [BackendListing] {
        let details = reports.flatMap { report in
            (report.snapshot?.backendDetails ?? []).map { (worker: report.worker, backend: $0) }
        }
        return names(details.map(\.backend.name)).map { name in
            BackendListing(name: name, details: details.filter { $0.backend.name == name })
        }
    }

    /// Each once, in the order of their first occurrence.
    private static func names(_ all: [String]) -> [String] {
        var seen: Set<String> = []
        return all.filter { seen.insert($0).inserted }
    }

    var json: JSONTree {
        var members: [(String, JSONTree)] = [
            ("name", .text(name)), ("usable", .flag(details.contains { $0.backend.isUsable })),
            (
                "required_for_readiness",
                .flag(details.contains { $0.backend.isRequiredForReadiness })
            ), ("hosts", .list(hosts)),
        ]
        if let breaker { members.append(("breaker", breaker)) }
        members += limits
        members.append(("calls", calls))
        return .object(members)
    }

    // MARK: Hosts

    private var hosts: [JSONTree] {
        let all = details.flatMap { detail in
            detail.backend.hosts.map { (worker: detail.worker, host: $0) }
        }
        return Self.names(all.map(\.host.name)).map { name in
            json(ofHost: name, all.filter { $0.host.name == name })
        }
    }

    private func json(
        ofHost name: String, _ all: [(worker: Int, host: BackendDetail.Host)]
    ) -> JSONTree {
        let usages = all.map(\.host.usage)
        func sum(_ values: [Int]) -> JSONTree { .number(values.reduce(0, +)) }
        var members: [(String, JSONTree)] = [("host", .text(name))]
        members += Self.members(
            of: all.map { (worker: $0.worker, state: TimedState($0.host.state)) })
        let checks = all.compactMap(\.host.failedCheck)
        if let check = checks.min(by: { $0.age < $1.age }) {
            members.append(
                (
                    "last_failed_check",
                    .object([
                        ("reason", .text(check.reason)), ("ago_ms", .milliseconds(check.age)),
                    ])
                ))
        }
        return .object(
            members + [
                (
                    "connections",
                    .object([
                        ("idle", sum(usages.map(\.idle))),
                        ("in_use", sum(usages.map(\.inUse))),
                        ("connecting", sum(usages.map(\.connecting))),
                    ])
                ), ("waiting_for_connection", sum(usages.map(\.waiting))),
            ])
    }

    // MARK: States

    /// A state with the time after which it ends.
    private struct TimedState {
        let name: String
        var remaining: Duration?

        init(_ state: BackendDetail.HostState) {
            switch state {
            case .usable: name = "usable"
            case .unhealthy: name = "unhealthy"
            case .unresolved: name = "unresolved"
            case .ejected(let remaining):
                name = "ejected"
                self.remaining = remaining
            }
        }

        init(_ state: BackendDetail.Breaker) {
            switch state {
            case .closed: name = "closed"
            case .halfOpen: name = "half_open"
            case .open(let remaining):
                name = "open"
                self.remaining = remaining
            }
        }

        var members: [(String, JSONTree)] {
            var members: [(String, JSONTree)] = [("state", .text(name))]
            if let remaining { members.append(("for_ms", .milliseconds(remaining))) }
            return members
        }
    }

    /// One state if all workers have it, else the state of each.
    private static func members(
        of states: [(worker: Int, state: TimedState)]
    ) -> [(String, JSONTree)] {
        guard let first = states.first else { return [] }
        guard states.contains(where: { $0.state.name != first.state.name }) else {
            let last = states.max { ($0.state.remaining ?? .zero) < ($1.state.remaining ?? .zero) }
            return (last ?? first).state.members
        }
        return [
            ("state", .text("differs")),
            (
                "workers",
                .list(
                    states.map {
                        .object([("worker", .number($0.worker))] + $0.state.members)
                    })
            ),
        ]
    }

    /// Nil without a circuit breaker.
    private var breaker: JSONTree? {
        let states = details.compactMap { detail in
            detail.backend.breaker.map { (worker: detail.worker, state: TimedState($0)) }
        }
        return states.isEmpty ? nil : .object(Self.members(of: states))
    }

    // MARK: Numbers

    private var limits: [(String, JSONTree)] {
        let limits = details.compactMap(\.backend.limit)
        guard !limits.isEmpty else { return [] }
        func usage(_ used: [Int], of limit: [Int]) -> JSONTree {
            .object([
                ("used", .number(used.reduce(0, +))), ("limit", .number(limit.reduce(0, +))),
            ])
        }
        return [
            ("permits", usage(limits.map(\.permitsUsed), of: limits.map(\.permits))),
            ("queue", usage(limits.map(\.queued), of: limits.map(\.queueSize))),
        ]
    }

    /// Since the start of the process, by outcome.
    private var calls: JSONTree {
        let outcomes = details.flatMap(\.backend.outcomes)
        return .object(
            Self.names(outcomes.map(\.name)).map { name in
                let counts = outcomes.filter { $0.name == name }.map(\.count)
                return (name, .number(counts.reduce(0, +)))
            })
    }
}
