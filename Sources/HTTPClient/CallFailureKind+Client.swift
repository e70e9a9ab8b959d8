package import HTTP

extension CallFailureKind {
    /// The kind of a call's failure, for the failure of its connection.
    package init(_ kind: ClientFailure.Kind) {
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
