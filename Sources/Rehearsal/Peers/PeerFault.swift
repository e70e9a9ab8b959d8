/// A protocol violation by the gateway that a simulated peer detects on its connection.
package enum PeerFault {
    /// The message violates HTTP/1.1.
    case malformed
    /// A request arrived before the response to the previous one.
    case busyConnection
    /// A response arrived that belongs to no request.
    case surplusResponse
}
