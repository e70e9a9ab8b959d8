/// Why a streamed response ended before its last byte. No other response was possible, because its
/// head had been sent.
package enum StreamEnd: UInt8, Sendable, CaseIterable {
    /// The backend's response broke off.
    case backendTruncated
    /// The client closed its connection.
    case clientDisconnected
    /// The client did not take the response at the minimum rate.
    case clientTooSlow
    /// The body of the request was malformed or too large, so that the backend never got all of it.
    case requestBroken
    /// `buffered_bytes` was used up: the bytes that one side could not take yet had no room.
    case memoryLimit
    /// No byte was transferred for `idle_timeout`.
    case idle
    /// The exchange lasted longer than `max_duration`.
    case maxDuration
    /// The server closed the connection, because the time for draining had passed.
    case cutOff

    /// As it stands in logs.
    package var name: StaticString {
        switch self {
        case .backendTruncated: "backend_truncated"
        case .clientDisconnected: "client_disconnected"
        case .clientTooSlow: "client_too_slow"
        case .requestBroken: "request_broken"
        case .memoryLimit: "memory_limit"
        case .idle: "idle"
        case .maxDuration: "max_duration"
        case .cutOff: "cut_off"
        }
    }
}
