import Basics
package import HTTPClient
import Reactor

/// The state of a backend and of its hosts on one worker, for the admin pages.
package struct BackendDetail: Sendable {
    package let name: String
    /// Whether a call would be sent to one of the hosts.
    package let isUsable: Bool
    package let isRequiredForReadiness: Bool
    package let hosts: [Host]
    /// Nil without a circuit breaker.
    package let breaker: Breaker?
    /// Nil without a concurrency limit.
    package let limit: Limit?
    /// How calls ended: `ok`, or the kind of failure. The embedder counts them.
    package var outcomes: [(name: String, count: Int)]

    package init(
        name: String, isUsable: Bool, isRequiredForReadiness: Bool = false, hosts: [Host],
        breaker: Breaker? = nil, limit: Limit? = nil, outcomes: [(name: String, count: Int)] = []
    ) {
        self.name = name
        self.isUsable = isUsable
        self.isRequiredForReadiness = isRequiredForReadiness
        self.hosts = hosts
        self.breaker = breaker
        self.limit = limit
        self.outcomes = outcomes
    }

    package enum Breaker: Sendable, Equatable {
        case closed
        /// No call is sent for so long; zero if the next call is the probe.
        case open(for: Duration)
        /// A probe is in flight.
        case halfOpen
    }

    /// `max_concurrent` and `queue`: the worker's shares.
    package struct Limit: Sendable, Equatable {
        package let permitsUsed: Int
        package let permits: Int
        package let queued: Int
        package let queueSize: Int

        package init(permitsUsed: Int, permits: Int, queued: Int, queueSize: Int) {
            self.permitsUsed = permitsUsed
            self.permits = permits
            self.queued = queued
            self.queueSize = queueSize
        }
    }

    /// One host of a backend.
    package struct Host: Sendable {
        /// Host and port.
        package let name: String
        package let usage: PoolUsage
        package let state: HostState
        /// Nil unless the last health check failed.
        package let failedCheck: FailedCheck?

        package init(
            name: String, usage: PoolUsage, state: HostState, failedCheck: FailedCheck? = nil
        ) {
            self.name = name
            self.usage = usage
            self.state = state
            self.failedCheck = failedCheck
        }
    }

    /// Whether calls are sent to a host, and why not.
    package enum HostState: Sendable, Equatable {
        case usable
        /// Outlier detection removed it from load balancing for so long.
        case ejected(for: Duration)
        /// It fails its health checks.
        case unhealthy
        /// Its name could not be resolved.
        case unresolved
    }

    package struct FailedCheck: Sendable, Equatable {
        /// `status 503`, or the kind of failure.
        package let reason: String
        package let age: Duration

        package init(reason: String, age: Duration) {
            self.reason = reason
            self.age = age
        }
    }
}

extension BackendDetail.Host {
    init(
        name: String, usage: PoolUsage, availability: HostAvailability.State,
        failedCheck: HostStates.FailedCheck?, at now: Instant
    ) {
        let state: BackendDetail.HostState =
            switch availability {
            case .unhealthy: .unhealthy
            case .ejected(let until): .ejected(for: until - now)
            case .available: usage.isUnresolved ? .unresolved : .usable
            }
        self.init(
            name: name, usage: usage, state: state,
            failedCheck: failedCheck.map {
                BackendDetail.FailedCheck(reason: $0.reason, age: now - $0.at)
            })
    }
}

extension Backend {
    var detail: BackendDetail {
        BackendDetail(
            name: plan.name, isUsable: hosts.hasUsable,
            isRequiredForReadiness: plan.health?.isRequiredForReadiness ?? false,
            hosts: hosts.details, breaker: breaker?.detail(at: loop.now),
            limit: plan.concurrency.map { plan in
                let load = concurrencyLimit?.load ?? (running: 0, waiting: 0)
                return BackendDetail.Limit(
                    permitsUsed: load.running, permits: plan.concurrentMax, queued: load.waiting,
                    queueSize: plan.queueMax)
            })
    }
}

extension CircuitBreaker {
    fileprivate func detail(at now: Instant) -> BackendDetail.Breaker {
        switch phase {
        case .closed: .closed
        case .open(let until): .open(for: max(.zero, until - now))
        case .halfOpen: .halfOpen
        }
    }
}
