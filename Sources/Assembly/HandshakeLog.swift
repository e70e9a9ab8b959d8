import Basics
import Reactor

/// Logs TLS handshakes that failed: each at `debug`, and a summary at `info` at most once a minute, so
/// that scanners do not flood the log. Confined to its worker.
final class HandshakeLog {
    private static let interval = Duration.seconds(60)

    private let log: Log
    private var last: Instant?
    private var unreported = 0

    init(_ log: Log) {
        self.log = log
    }

    func recordFailure(_ failure: IOFailure, from client: SocketAddress?, at now: Instant) {
        log.write(.debug, "TLS handshake failed") { line in
            if case .ip(let address, let port)? = client {
                line.add("client", "\(address)")
                line.add("port", Int(port))
            }
            line.add("problem", "\(failure)")
        }
        unreported += 1
        if let last, now - last < Self.interval { return }
        last = now
        log.write(.info, "TLS handshakes failed") { line in
            line.add("count", unreported)
            line.add("problem", "\(failure)")
        }
        unreported = 0
    }
}
