import Basics
import Reactor

/// What a pool has learned about the HTTP/2 of its backend.
struct H2PoolState {
    /// The streams that the backend accepted on the last connection.
    ///
    /// 100: RFC 9113 6.5.2 recommends that servers allow no fewer.
    var acceptedStreams = 100

    /// Until then the backend requires HTTP/1.1; nil if it does not.
    var http1Until: Instant?

    /// While it runs, no connection is made.
    var pause: Timer?

    var isPaused: Bool { pause != nil }

    /// 1 s: long enough for a backend to recover from a burst, short enough for clients.
    static let pauseDuration = Duration.seconds(1)
}

extension PoolSettings {
    /// Without TLS, `auto` has no way to learn that a backend has HTTP/2.
    var mayUseHTTP2: Bool {
        switch protocolChoice {
        case .auto: security != nil
        case .http1: false
        case .http2: true
        }
    }

    var requiresHTTP2: Bool { protocolChoice == .http2 }
}
