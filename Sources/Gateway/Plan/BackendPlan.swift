package import HTTP
import HTTPClient
import Reactor

/// One backend: its hosts, connections, limits and health checks.
package struct BackendPlan {
    let index: Int
    package let name: String
    package private(set) var hosts: [Host]
    /// `Name: value\r\n` for every header of `headers:`, ready to be sent.
    package let fields: Fields
    /// The headers as configured, for `explain`: with `${NAME}` where a variable is used.
    package let shownFields: [(name: FieldName, value: String)]
    let balance: Config.Balance
    let pool: PoolSettings
    let concurrency: ConcurrencyLimitPlan?
    let breaker: BreakerPlan?
    let eject: EjectPlan?
    let health: HealthPlan?

    /// Host and port of each host, as metrics and logs show it.
    package var hostNames: [String] { hosts.map(\.origin.hostField) }

    /// The versions of HTTP that its calls may use, for operators; nil for HTTP/1.1 alone.
    package var http2Text: String? {
        let hasTLS = hosts.contains { $0.security != nil }
        return switch pool.protocolChoice {
        case .http1: nil
        case .http2: "HTTP/2"
        case .auto: hasTLS ? "HTTP/2 or HTTP/1.1" : nil
        }
    }

    /// Connections of HTTP/2 to each host, for one worker.
    package var http2ConnectionsMax: Int { pool.http2.maxConnections }

    /// Whether `max_concurrent` limits its calls.
    package var hasConcurrencyLimit: Bool { concurrency != nil }

    /// One host of a backend.
    package struct Host {
        let origin: Origin
        /// Put before the path of every call; percent-encoded, without a trailing slash.
        let pathPrefix: String
        /// Origin and path.
        let url: String
        /// The URL as configured, for `explain`: with `${NAME}` where a variable is used.
        package let shownURL: String
        /// For `https://`.
        fileprivate(set) var security: StreamSecurity?

        /// As records name it.
        var server: RecordedEndpoint.Server {
            RecordedEndpoint.Server(address: origin.host, port: origin.port)
        }
    }

    /// A copy with other TLS settings, or without TLS.
    func replacingSecurity(_ replace: (StreamSecurity) -> StreamSecurity?) -> BackendPlan {
        var plan = self
        for index in plan.hosts.indices {
            plan.hosts[index].security = plan.hosts[index].security.flatMap(replace)
        }
        return plan
    }
}

extension BackendPlan.Host {
    /// The pool settings of the backend with the TLS settings of this host.
    func pool(_ backend: PoolSettings) -> PoolSettings {
        var settings = backend
        settings.security = security
        return settings
    }

    /// The settings of the connections that switch to another protocol, which only HTTP/1.1 can; nil
    /// if all connections have the same settings.
    func poolForUpgrades(_ backend: PoolSettings) -> PoolSettings? {
        guard backend.protocolChoice == .auto, security != nil else { return nil }
        var settings = pool(backend)
        settings.protocolChoice = .http1
        return settings
    }
}
