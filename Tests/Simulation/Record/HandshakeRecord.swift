import Basics
import SimReactor

/// The handshake of a client with a listener that has TLS, or its connection to one that redirects.
struct HandshakeRecord {
    /// Index in `listeners`.
    let listener: Int
    /// The client's part; nil if it sends HTTP without encryption.
    let hello: SimHello?
    /// When the client was connected.
    let connected: Instant?
    /// When the client had the result.
    let secured: Instant?
    /// When the gateway ended its direction.
    let gatewayClosed: Instant?
}
