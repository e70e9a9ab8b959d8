import HTTPClient

/// How a call can fail, in the order of reports and metrics. `CallFailure`
/// states the name of each kind and what follows from it.
package enum CallFailureKind: UInt8, CaseIterable, Sendable {
    case dnsError
    case connectionRefused
    case connectionTimeout
    case connectionTerminated
    case connectionLimitReached
    case tlsCertificateError
    case responseTimeout
    case responseIncomplete
    case responseHeaderSize
    case responseHeaderCount
    case responseBodySize
    case responseContentCoding
    case protocolError
    case destinationUnavailable
    case unexpectedStatus
    case invalidJSON
    case invalidShape
    case collision
    case tooManyElements
    case truncated
    case breakerOpen
    case queueFull
    case skipped
    case cancelled
}

extension CallFailureKind {
    /// The kind of a call's failure, for the failure of its connection.
    init(_ kind: ClientFailure.Kind) {
        self =
            switch kind {
            case .dnsError: .dnsError
            case .connectionRefused: .connectionRefused
            case .connectionTimeout: .connectionTimeout
            case .connectionTerminated: .connectionTerminated
            case .certificateError: .tlsCertificateError
            case .responseIncomplete: .responseIncomplete
            case .responseBodySize: .responseBodySize
            case .responseHeaderSize: .responseHeaderSize
            case .responseHeaderCount: .responseHeaderCount
            case .protocolError: .protocolError
            // The gateway's buffers are full for a moment, as with a full queue.
            case .memoryLimit: .queueFull
            case .connectionLimit: .connectionLimitReached
            }
    }
}
