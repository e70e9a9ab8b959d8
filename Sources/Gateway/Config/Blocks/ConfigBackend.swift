import Basics
package import YAMLReader

extension Config {
    /// One of `backends:`, a service that calls are sent to.
    package struct Backend: Sendable {
        package let name: Located<String>
        package let location: SourceLocation
        var url: Located<BackendURL>?
        var urls: Located<[Located<BackendURL>]>?
        /// Sent with every request to this backend; literal, without references.
        package var headers: [Header] = []
        package var forwarded: Located<Forwarded>?
        package var connectTimeout: Located<Duration>?
        package var maxConcurrent: Located<Int>?
        package var queue: Queue?
        package var breaker: Breaker?
        package var balance: Located<Balance>?
        package var eject: Eject?
        package var health: Health?
        package var keepalive: Keepalive?
        package var dnsTTL: Located<Duration>?
        package var protocolChoice: Located<BackendProtocol>?
        package var http2: HTTP2?
        package var tls: TLS?

        init(name: Located<String>, location: SourceLocation) {
            self.name = name
            self.location = location
        }

        /// The hosts, from `url` or `urls`.
        package var hosts: [Located<BackendURL>] { urls?.value ?? url.map { [$0] } ?? [] }

        /// The first host with `https://`.
        package var secureHost: Located<BackendURL>? { hosts.first { $0.value.scheme == .https } }
        /// The first host with `http://`.
        var plainHost: Located<BackendURL>? { hosts.first { $0.value.scheme == .http } }

        /// Whether its certificates are verified with the system's trusted CAs.
        var needsSystemTrust: Bool { secureHost != nil && tls.needsSystemTrust }
    }

    /// A header field with a fixed value.
    package struct Header: Sendable {
        package let name: Located<String>
        package let value: Located<String>
    }

    /// The content of a file that a key names, at the time when the configuration was read.
    package struct File: Sendable {
        /// Its name in messages: the path, or the variable that contains the path.
        let title: String
        let path: String
        let bytes: Bytes
    }

    /// The version of HTTP that a backend is called with.
    package enum BackendProtocol: String, Sendable, CaseIterable {
        case auto, http1, http2
    }

    package enum Balance: String, Sendable, CaseIterable {
        case leastRequests = "least_requests"
        case roundRobin = "round_robin"
    }
}

extension Config.Backend {

    /// `keepalive:`
    package struct Keepalive: Sendable {
        let location: SourceLocation
        package var maxIdle: Located<Int>?
        package var idleTimeout: Located<Duration>?
        package var maxAge: Located<Duration>?
        init(location: SourceLocation) { self.location = location }
    }

    /// `http2:`
    package struct HTTP2: Sendable {
        let location: SourceLocation
        package var maxStreams: Located<Int>?
        package var maxConnections: Located<Int>?
        package var pingAfter: Located<Duration>?
        package var pingTimeout: Located<Duration>?
        init(location: SourceLocation) { self.location = location }
    }

    /// `tls:`
    package struct TLS: Sendable {
        let location: SourceLocation
        var ca: Located<Config.File>?
        var cert: Located<Config.File>?
        var key: Located<Config.File>?
        var serverName: Located<String>?
        var verify: Located<Bool>?
        init(location: SourceLocation) { self.location = location }
    }
}

extension Config.Backend.TLS? {
    /// Whether certificates are verified with the system's trusted CAs.
    var needsSystemTrust: Bool { self?.ca == nil && self?.verify?.value != false }
}
