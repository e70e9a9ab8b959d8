import Basics
package import YAMLReader

extension Config {
    /// One of `backends:`, where calls go.
    package struct Backend: Sendable {
        package let name: Placed<String>
        package let place: Place
        var url: Placed<BackendURL>?
        var urls: Placed<[Placed<BackendURL>]>?
        /// Sent with every request to this backend; literal, `{...}` means nothing here.
        package var headers: [Header] = []
        package var forwarded: Placed<Forwarded>?
        package var connectTimeout: Placed<Duration>?
        package var maxConcurrent: Placed<Int>?
        package var queue: Queue?
        package var breaker: Breaker?
        package var balance: Placed<Balance>?
        package var eject: Eject?
        package var health: Health?
        package var keepalive: Keepalive?
        package var dnsTTL: Placed<Duration>?
        var tls: TLS?

        init(name: Placed<String>, place: Place) {
            self.name = name
            self.place = place
        }

        /// The hosts, however they were written.
        package var hosts: [Placed<BackendURL>] { urls?.value ?? url.map { [$0] } ?? [] }

        /// The first host that is asked over TLS.
        package var secureHost: Placed<BackendURL>? { hosts.first { $0.value.scheme == .https } }
        /// The first host without.
        var plainHost: Placed<BackendURL>? { hosts.first { $0.value.scheme == .http } }

        /// Whether its certificates are verified with the system's trusted CAs.
        var needsSystemTrust: Bool {
            secureHost != nil && tls?.ca == nil && tls?.verify?.value != false
        }
    }

    /// A header field with a fixed value.
    package struct Header: Sendable {
        package let name: Placed<String>
        package let value: Placed<String>
    }

    /// A file that a key names, as it was when the configuration was read.
    package struct File: Sendable {
        /// What messages call it: its path, or the variable that the path comes from.
        let title: String
        let bytes: Bytes
    }

    package enum Balance: String, Sendable, CaseIterable {
        case leastRequests = "least_requests"
        case roundRobin = "round_robin"
    }
}

extension Config.Backend {
    /// `queue:`, where calls wait when `max_concurrent` is reached.
    package struct Queue: Sendable {
        let place: Place
        package var size: Placed<Int>?
        package var wait: Placed<Duration>?
        init(place: Place) { self.place = place }
    }

    /// `breaker:`
    package struct Breaker: Sendable {
        let place: Place
        /// The share of failures at which it opens, over 0 and at most 1.
        package var openAt: Placed<Double>?
        package var minRequests: Placed<Int>?
        package var window: Placed<Duration>?
        package var tryAgainAfter: Placed<Duration>?
        init(place: Place) { self.place = place }
    }

    /// `eject:`, when a host of several is left alone for a while.
    package struct Eject: Sendable {
        let place: Place
        /// Failures in a row.
        package var after: Placed<Int>?
        /// Written `for:`.
        package var duration: Placed<Duration>?
        init(place: Place) { self.place = place }
    }

    /// `health:`
    package struct Health: Sendable {
        let place: Place
        package var path: Placed<String>?
        package var every: Placed<Duration>?
        init(place: Place) { self.place = place }
    }

    /// `keepalive:`
    package struct Keepalive: Sendable {
        let place: Place
        package var maxIdle: Placed<Int>?
        package var idleTimeout: Placed<Duration>?
        init(place: Place) { self.place = place }
    }

    /// `tls:`
    struct TLS: Sendable {
        let place: Place
        var ca: Placed<Config.File>?
        var cert: Placed<Config.File>?
        var key: Placed<Config.File>?
        var serverName: Placed<String>?
        var verify: Placed<Bool>?
        init(place: Place) { self.place = place }
    }
}
