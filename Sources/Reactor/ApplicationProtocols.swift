/// The protocols that a client offers in a TLS handshake (ALPN, RFC 7301).
package enum ApplicationProtocols: Sendable, Equatable {
    case http1
    case http2
    /// HTTP/2 first.
    case both

    /// The registered names, in the order of preference.
    package var names: [String] {
        switch self {
        case .http1: ["http/1.1"]
        case .http2: [Self.http2Name]
        case .both: [Self.http2Name, "http/1.1"]
        }
    }

    /// The registered name of HTTP/2 over TLS (RFC 9113 3.2).
    package static let http2Name = "h2"
}
