import Basics
import YAMLReader

extension Config {
    /// One of `backends:`, where calls go.
    struct Backend: Sendable {
        let name: Placed<String>
        let place: Place
        var url: Placed<BackendURL>?
        var urls: Placed<[Placed<BackendURL>]>?
        /// Sent with every request to this backend; literal, `{...}` means nothing here.
        var headers: [Header] = []
        var forwarded: Placed<Forwarded>?
        var connectTimeout: Placed<Duration>?
        var maxConcurrent: Placed<Int>?
        var queue: Queue?
        var breaker: Breaker?
        var balance: Placed<Balance>?
        var eject: Eject?
        var health: Health?
        var keepalive: Keepalive?
        var dnsTTL: Placed<Duration>?
        var tls: TLS?

        init(name: Placed<String>, place: Place) {
            self.name = name
            self.place = place
        }

        /// The hosts, however they were written.
        var hosts: [Placed<BackendURL>] { urls?.value ?? url.map { [$0] } ?? [] }

        /// The first host that is asked over TLS.
        var secureHost: Placed<BackendURL>? { hosts.first { $0.value.scheme == .https } }
        /// The first host without.
        var plainHost: Placed<BackendURL>? { hosts.first { $0.value.scheme == .http } }
    }

    /// A header field with a fixed value.
    struct Header: Sendable {
        let name: Placed<String>
        let value: Placed<String>
    }

    /// A file that a key names, as it was when the configuration was read.
    struct File: Sendable {
        /// What messages call it: its path, or the variable that the path comes from.
        let title: String
        let bytes: Bytes
    }

    enum Balance: String, Sendable, CaseIterable {
        case leastRequests = "least_requests"
        case roundRobin = "round_robin"
    }
}

extension Config.Backend {
    /// `queue:`, where calls wait when `max_concurrent` is reached.
    struct Queue: Sendable {
        let place: Place
        var size: Placed<Int>?
        var wait: Placed<Duration>?
        init(place: Place) { self.place = place }
    }

    /// `breaker:`
    struct Breaker: Sendable {
        let place: Place
        /// The share of failures at which it opens, over 0 and at most 1.
        var openAt: Placed<Double>?
        var minRequests: Placed<Int>?
        var window: Placed<Duration>?
        var tryAgainAfter: Placed<Duration>?
        init(place: Place) { self.place = place }
    }

    /// `eject:`, when a host of several is left alone for a while.
    struct Eject: Sendable {
        let place: Place
        /// Failures in a row.
        var after: Placed<Int>?
        /// Written `for:`.
        var duration: Placed<Duration>?
        init(place: Place) { self.place = place }
    }

    /// `health:`
    struct Health: Sendable {
        let place: Place
        var path: Placed<String>?
        var every: Placed<Duration>?
        init(place: Place) { self.place = place }
    }

    /// `keepalive:`
    struct Keepalive: Sendable {
        let place: Place
        var maxIdle: Placed<Int>?
        var idleTimeout: Placed<Duration>?
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
