import Basics
import COpenSSL
import Promises
package import Reactor

/// Secures connections to servers. Created once per configuration and used for any number of
/// connections, on any thread.
///
/// TLS 1.2 or 1.3; by default only certificates that a
/// trusted certificate signed are accepted.
package final class TLSClientContext: Sendable {
    private let context: TLSContext
    let settings: TLSSettings

    package init(_ settings: TLSSettings) throws(TLSSettingsError) {
        self.settings = settings
        context = try TLSContext(TLS_client_method())
        if case .signed(let authorities) = settings.trust { try context.trust(authorities) }
        if let identity = settings.identity { try context.use(identity) }
    }

    /// The engine of a new connection.
    ///
    /// - Parameters:
    ///   - protocols: offered to the server
    ///   - unixTime: seconds since 1970
    package func engine(
        for host: String, offering protocols: ApplicationProtocols = .http1, unixTime: Int
    ) throws(IOFailure) -> TLSEngine {
        let name = settings.serverName ?? host
        return try TLSEngine(
            client: context, host: name.hasSuffix(".") ? String(name.dropLast()) : name,
            offering: protocols, unixTime: unixTime)
    }

    /// The settings for connection pools.
    package var security: StreamSecurity {
        StreamSecurity(
            configuration: settings.configuration, verifies: settings.trust != .unverified,
            serverName: settings.serverName
        ) { stream, host, loop, protocols in
            do {
                let engine = try self.engine(
                    for: host, offering: protocols,
                    unixTime: Int(loop.unixTime / 1_000_000_000))
                return TLSStream.open(over: stream, engine, on: loop)
            } catch {
                stream.close()
                return loop.local.error(error)
            }
        }
    }
}

extension TLSSettings {
    /// Comparable form: equal for equal settings.
    fileprivate var configuration: [Bytes] {
        let trust =
            switch trust {
            case .unverified: [Bytes("unverified")]
            case .signed(let authorities): [Bytes("signed"), authorities]
            }
        return trust + [
            identity?.certificate ?? Bytes(), identity?.key ?? Bytes(), Bytes(serverName ?? ""),
        ]
    }
}
