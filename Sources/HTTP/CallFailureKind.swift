/// How a call can fail, in the order of reports and metrics. `Gateway` states the name of each kind
/// and what follows from it.
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
    case breakerOpen
    case queueFull
    case skipped
    case cancelled
}
