/// Why the network said no: a closed set, so that every reason is thought about where it matters.
package enum IOFailure: Error, Sendable, Hashable {
    /// Nobody listens there.
    case connectionRefused
    /// The other side, or something between, ended the connection by force.
    case connectionReset
    /// Written to a connection that the other side had closed.
    case brokenPipe
    /// The system gave up waiting for the other side.
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
    /// The system has no memory left for it.
    case outOfMemory
    /// The other side of a secure connection cannot prove that it is the one that was meant; why, in
    /// words.
    case certificateRefused(String)
    /// A secure connection did not come about, or was broken; how, in words.
    case insecure(String)
    /// The operation was given up by this side.
    case cancelled
    /// Anything else, with the system's error number (negative, as libuv gives it).
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
        case .insecure(let words): "TLS: \(words)"
        case .cancelled: "cancelled"
        case .other(let code): "system error \(code)"
        }
    }
}
