/// Why a network operation failed: a closed set, so that each use handles every reason.
package enum IOFailure: Error, Sendable, Hashable {
    /// No process listens on the address.
    case connectionRefused
    /// The peer, or a device on the path, reset the connection.
    case connectionReset
    /// The peer had closed the connection before this write.
    case brokenPipe
    /// The operating system timed out.
    case timedOut
    /// No route to the host or network.
    case unreachable
    /// Another process listens on that address.
    case addressInUse
    /// The address does not exist on this machine, or its text is malformed.
    case addressInvalid
    /// A port or path that this process may not use.
    case permissionDenied
    /// The name service knows no such host.
    case hostNotFound
    /// The name service itself failed.
    case nameServiceFailed
    /// The process or the system has no descriptor left.
    case outOfDescriptors
    /// The system has no memory left for the operation.
    case outOfMemory
    /// The certificate of the peer is not accepted; the text is the reason.
    case certificateRefused(String)
    /// The TLS connection failed; the text is the reason.
    case tlsFailed(String)
    /// The peer sent too many TLS records without data.
    case recordFlood
    /// This side cancelled the operation.
    case cancelled
    /// Any other failure, as the system's error number (negative, as libuv reports it).
    case other(Int32)
}

extension IOFailure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .connectionRefused: "connection refused"
        case .connectionReset: "connection reset by peer"
        case .brokenPipe: "broken pipe"
        case .timedOut: "timed out"
        case .unreachable: "host or network unreachable"
        case .addressInUse: "address already in use"
        case .addressInvalid: "address not available or malformed"
        case .permissionDenied: "permission denied"
        case .hostNotFound: "host not found"
        case .nameServiceFailed: "name service failed"
        case .outOfDescriptors: "out of file descriptors"
        case .outOfMemory: "out of memory"
        case .certificateRefused(let words): "certificate refused: \(words)"
        case .tlsFailed(let words): "TLS: \(words)"
        case .recordFlood: "TLS: too many records without data"
        case .cancelled: "cancelled"
        case .other(let code): "system error \(code)"
        }
    }
}
