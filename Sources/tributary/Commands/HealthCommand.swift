import ArgumentParser
import Basics
import HTTP
import HTTPClient
import Promises
import Reactor
import System
import UVReactor

/// `tributary health [URL]`: for the HEALTHCHECK of a container without a shell and curl.
struct HealthCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "health",
        abstract: "Check whether a running gateway is ready; exits with status 0 or 1.",
        discussion: """
            Requests /readyz from the admin address in TRIBUTARY_ADMIN or ADMIN, by default \
            127.0.0.1:9901. The address of a unix socket is unix:/path.

            EXAMPLES
              tributary health
              tributary health http://127.0.0.1:9901/readyz
            """)

    @Argument(help: "The URL to request instead, as http://host:port/path, or unix:/path.")
    var url: String?

    func run() throws {
        let probed = url ?? Self.adminURL
        guard let probe = Probe(probed) else {
            throw ValidationError(
                "not http://host:port/path or unix:/path: \(probed)")
        }
        var status: Status?
        _ = try UVLoop.run { loop in
            let pools = ConnectionPools(loop: loop)
            probe.send(through: pools).timeout(.seconds(2)).whenSettled { result in
                status = try? result.get().status
                pools.close().whenSettled { _ in loop.stop() }
            }
        }
        guard status == .ok else {
            let result = status.map { "\($0.code)" } ?? "no response"
            StandardStreams.printError("tributary: \(probed): \(result)\n")
            throw ExitCode(1)
        }
    }

    /// An empty variable counts as one that is not set.
    private static var adminURL: String {
        let variables = ["TRIBUTARY_ADMIN", "ADMIN"].compactMap(Environment.variable)
        let address = variables.first { !$0.isEmpty } ?? "127.0.0.1:9901"
        return address.hasPrefix(Probe.unixPrefix) ? address : "http://\(address)/readyz"
    }

    /// A request to `http://host:port/path`, or for `/readyz` to the unix socket of `unix:/path`.
    private struct Probe {
        let origin: Origin
        let target: Target

        static let unixPrefix = "unix:"

        init?(_ url: String) {
            if url.hasPrefix(Self.unixPrefix), let ready = Target("/readyz") {
                origin = Origin(unixPath: String(url.dropFirst(Self.unixPrefix.count)))
                target = ready
                return
            }
            let scheme = "http://"
            guard url.hasPrefix(scheme) else { return nil }
            let rest = url.dropFirst(scheme.count)
            let authority = rest.prefix { $0 != "/" }
            let path = rest.dropFirst(authority.count)
            guard let colon = authority.lastIndex(of: ":"),
                let port = UInt16(authority[authority.index(after: colon)...]),
                let target = Target(path.isEmpty ? "/readyz" : String(path))
            else { return nil }
            var host = authority[..<colon]
            if host.hasPrefix("[") && host.hasSuffix("]") { host = host.dropFirst().dropLast() }
            origin = Origin(host: String(host), port: port)
            self.target = target
        }

        func send(through pools: ConnectionPools) -> LocalPromise<ClientResponse> {
            pools.pool(for: origin, settings: PoolSettings()).send(
                ClientRequest(
                    method: .get, target: target,
                    host: FieldValue(origin.hostField) ?? "localhost",
                    constantFields: Fields().namingProduct(),
                    responseBytesMax: 64 << 10))
        }
    }
}
