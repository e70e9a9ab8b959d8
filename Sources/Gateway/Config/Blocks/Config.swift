package import YAMLReader

/// The configuration as the operator wrote it, block by block, with source locations.
///
/// nil means "not written"; the planner applies the defaults. A `Config` that `ConfigLoader`
/// returned has passed every check, so required values are present.
package struct Config: Sendable {
    package let location: SourceLocation

    var version: Located<Int>?
    /// The addresses for clients; empty for the default.
    package var listen: [Listen] = []
    package var admin: Admin?
    package var workers: Located<Workers>?
    package var log: Log?
    package var traces: Traces?
    package var metrics: Metrics?
    package var limits: Limits?
    package var drain: Drain?
    package var clients: Clients?
    package var hosts = HostsKeys()
    package var userAgents: UserAgents?
    package var securityHeaders: Located<SecurityHeaders>?
    package var responseHeaders: [Header] = []
    /// `auth:`, by name.
    package var authenticators: [Authenticator] = []
    /// `auth_failures:`, how many refused credentials of one address are checked.
    package var authFailures: Located<AuthFailures>?
    package var defaults: Defaults?
    package var rateLimits: [RateLimit] = []
    /// File patterns, relative to the file that contains them; the loader has included the files.
    var include: [Located<String>] = []
    package var backends: [Backend] = []
    package var endpoints: [Endpoint] = []
    package var store: Store?

    /// The system's trusted CA certificates; read if a backend needs them, nil if there are none.
    package var systemTrust: File?

    init(location: SourceLocation) {
        self.location = location
    }
}

extension Config {
    /// Where a listener binds.
    package enum ListenAddress: Sendable, Equatable {
        /// A host (a name, an IPv4 address, or an IPv6 address without its brackets) and a port;
        /// port 0 lets the system choose.
        case tcp(host: String, port: UInt16)
        case unix(path: String)

        /// As in a configuration.
        package var spelled: String {
            switch self {
            case .tcp(let host, let port): "\(host.contains(":") ? "[\(host)]" : host):\(port)"
            case .unix(let path): "unix:\(path)"
            }
        }
    }

    /// The number of workers.
    package enum Workers: Sendable, Equatable {
        /// One per processor.
        case auto
        case count(Int)
    }

    /// `drain:`
    package struct Drain: Sendable {
        package let location: SourceLocation
        package var delay: Located<Duration>?
        package var timeout: Located<Duration>?

        init(location: SourceLocation) {
            self.location = location
        }
    }

    /// `defaults:`, the values for endpoints and calls that do not set them.
    package struct Defaults: Sendable {
        let location: SourceLocation
        package var deadline: Located<Duration>?
        package var timeout: Located<Duration>?
        package var connectTimeout: Located<Duration>?
        package var maxBody: Located<Int>?
        package var report: Located<Endpoint.Report>?
        package var expose: Located<Endpoint.Expose>?
        package var partialStatus: Located<Int>?
        package var cors: CORS?
        package var auth: Located<AuthSetting>?
        package var paths: Located<Endpoint.Paths>?
        package var rateLimits: Located<[Located<LimitUse>]>?

        init(location: SourceLocation) {
            self.location = location
        }
    }
}
