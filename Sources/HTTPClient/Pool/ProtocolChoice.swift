/// Which version of HTTP the connections of a pool use.
package enum ProtocolChoice: Sendable, Equatable {
    /// The backend selects one in the TLS handshake; HTTP/1.1 without TLS.
    case auto
    case http1
    /// With TLS the handshake must select it, without TLS the backend is known to have it
    /// (RFC 9113 3.3).
    case http2
}
