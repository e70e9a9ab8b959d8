package import YAMLReader

/// What the operator wrote, block by block, with places; nothing is defaulted here.
///
/// nil means "not written". The planner resolves defaults. A `Config` that `ConfigLoader` returned
/// has passed every check, so what is required is there.
package struct Config: Sendable {
    package let location: SourceLocation

    var version: Located<Int>?
    package var listen: Listen?
    package var admin: Admin?
    package var workers: Located<Workers>?
    package var log: Log?
    package var limits: Limits?
    package var drain: Drain?
    package var clients: Clients?
    package var defaults: Defaults?
    /// File patterns, relative to the file that they stand in; already followed by the loader.
    var include: [Located<String>] = []
    package var backends: [Backend] = []
    package var endpoints: [Endpoint] = []

    /// The certificates that the system trusts; read if a backend needs them, nil if there are none.
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
    }

    /// How many event loops run.
    package enum Workers: Sendable, Equatable {
        /// One per processor.
        case auto
        case count(Int)
    }

    /// `log:`
    package struct Log: Sendable {
        package let location: SourceLocation
        package var format: Located<Format>?
        package var level: Located<Level>?
        package var access: Located<Bool>?

        package enum Format: String, Sendable, CaseIterable { case json, text }
        package enum Level: String, Sendable, CaseIterable { case debug, info, warning, error }

        init(location: SourceLocation) {
            self.location = location
        }
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

    /// `defaults:`, what holds for every endpoint and call that does not say otherwise.
    package struct Defaults: Sendable {
        let location: SourceLocation
        package var deadline: Located<Duration>?
        package var timeout: Located<Duration>?
        package var connectTimeout: Located<Duration>?
        package var maxBody: Located<Int>?
        package var report: Located<Endpoint.Report>?
        package var expose: Located<Endpoint.Expose>?
        package var partialStatus: Located<Int>?

        init(location: SourceLocation) {
            self.location = location
        }
    }
}
