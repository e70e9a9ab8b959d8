/// A mistake of the gateway that a simulated peer detects in the bytes on its connection.
package enum PeerFault {
    /// The message violates HTTP/1.1.
    case malformed
    /// A request arrived before the previous one was answered.
    case busyConnection
    /// A response arrived that belongs to no request.
    case surplusResponse
}
