package import YAMLReader

/// What the operator wrote, block by block, with places; nothing is defaulted here.
///
/// nil means "not written". The planner resolves defaults. A `Config` that `ConfigLoader` returned
/// has passed every check, so what is required is there.
package struct Config: Sendable {
    package let place: Place

    var version: Placed<Int>?
    package var listen: Listen?
    package var admin: Admin?
    package var workers: Placed<Workers>?
    package var log: Log?
    package var limits: Limits?
    package var drain: Drain?
    package var clients: Clients?
    package var defaults: Defaults?
    /// File patterns, relative to the file that they stand in; already followed by the loader.
    var include: [Placed<String>] = []
    package var backends: [Backend] = []
    package var endpoints: [Endpoint] = []

    /// The certificates that the system trusts; read if a backend needs them, nil if there are none.
    package var systemTrust: File?

    init(place: Place) {
        self.place = place
    }
}

extension Config {
    /// Where a listener binds.
    package enum ListenAddress: Sendable, Equatable {
        /// A host (a name, an IPv4 address, or an IPv6 address without its brackets) and a port;
        /// port 0 lets the system choose.
        case tcp(host: String, port: UInt16)
        case unix(path: String)
    }

    /// How many event loops run.
    package enum Workers: Sendable, Equatable {
        /// One per processor.
        case auto
        case count(Int)
    }

    /// `log:`
    package struct Log: Sendable {
        package let place: Place
        package var format: Placed<Format>?
        package var level: Placed<Level>?
        package var access: Placed<Bool>?

        package enum Format: String, Sendable, CaseIterable { case json, text }
        package enum Level: String, Sendable, CaseIterable { case debug, info, warning, error }

        init(place: Place) {
            self.place = place
        }
    }

    /// `drain:`
    package struct Drain: Sendable {
        package let place: Place
        package var delay: Placed<Duration>?
        package var timeout: Placed<Duration>?

        init(place: Place) {
            self.place = place
        }
    }

    /// `defaults:`, what holds for every endpoint and call that does not say otherwise.
    package struct Defaults: Sendable {
        let place: Place
        package var deadline: Placed<Duration>?
        package var timeout: Placed<Duration>?
        package var connectTimeout: Placed<Duration>?
        package var maxBody: Placed<Int>?
        package var report: Placed<Endpoint.Report>?
        package var expose: Placed<Endpoint.Expose>?
        package var partialStatus: Placed<Int>?

        init(place: Place) {
            self.place = place
        }
    }
}
