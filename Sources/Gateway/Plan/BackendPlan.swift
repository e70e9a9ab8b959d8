import GatewayConfig
package import HTTP
import HTTPClient
import Reactor

/// Where calls go, and how much of them at once.
package struct BackendPlan {
    let index: Int
    let name: String
    package private(set) var hosts: [Host]
    /// `Name: value\r\n` for every header of `headers:`, ready to be sent.
    package let fields: Fields
    /// The same as the operator wrote them, for `explain`: with `${NAME}` where a variable is used.
    package let shownFields: [(name: FieldName, value: String)]
    let balance: Config.Balance
    let pool: PoolSettings
    let concurrency: ConcurrencyLimitPlan?
    let breaker: BreakerPlan?
    let eject: EjectPlan?
    let health: HealthPlan?

    /// One address of a backend.
    package struct Host {
        let origin: Origin
        /// Put before the path of every call; percent-encoded, without a slash at its end.
        let pathPrefix: String
        /// Origin and path.
        let url: String
        /// The same as the operator wrote it, for `explain`: with `${NAME}` where a variable is used.
        package let shownURL: String
        /// For `https://`.
        fileprivate(set) var security: StreamSecurity?
    }

    /// The same with other means of TLS, or without TLS.
    func replacingSecurity(_ replace: (StreamSecurity) -> StreamSecurity?) -> BackendPlan {
        var plan = self
        for index in plan.hosts.indices {
            plan.hosts[index].security = plan.hosts[index].security.flatMap(replace)
        }
        return plan
    }
}

extension BackendPlan.Host {
    /// The settings of its connections.
    func pool(_ backend: PoolSettings) -> PoolSettings {
        var settings = backend
        settings.security = security
        return settings
    }
}

/// `eject:`
struct EjectPlan: Equatable {
    /// Failures in a row.
    let after: Int
    /// The first time; it grows.
    let duration: Duration
}

/// `health:`
struct HealthPlan {
    let target: Target
    let every: Duration

    /// For one answer: shorter than the time to the next check, so that they never overlap.
    var patience: Duration { min(every, PlanDefaults.healthTimeout) }

    /// Nobody reads it, but what comes has to end.
    static let answerBytesMax = 64 << 10
}
