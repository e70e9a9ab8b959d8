import HTTP
import HTTPClient

// The table of failures: the properties that all failures of a kind share. Read by the status
// table, the circuit breaker, retries, metrics, reports and the documents.
extension CallFailure {
    package typealias Kind = CallFailureKind

    package struct Facts {
        /// The name in RFC 9209 (section 2.3) where it has one, else a name of this project.
        package let name: String
        let group: Group
        /// Whether the circuit breaker and the ejection of hosts count it as a failure of the
        /// backend.
        ///
        /// Only failures of the backend or the network count, and only those that reach the
        /// breaker: those below it in the chain, and the call's timeout, which is the cause of the
        /// cancellation. It receives a response before status and JSON are checked, and counts each
        /// 5xx.
        let countsForBreaker: Bool
        let retry: RetryRule

        fileprivate init(
            _ name: String, _ group: Group, breaker: Bool = false, retry: RetryRule = .never
        ) {
            self.name = name
            self.group = group
            countsForBreaker = breaker
            self.retry = retry
        }
    }

    /// What the status of a response depends on.
    enum Group {
        /// The backend failed.
        case backend
        /// It took too long.
        case timeout
        /// The gateway refused the call before anything was sent.
        case refused
        /// Says nothing about the backend, so it does not count where all calls have failed.
        case neutral

        /// The status of the response if this failure decides it.
        var status: Status {
            switch self {
            case .backend, .neutral: .badGateway
            case .timeout: .gatewayTimeout
            case .refused: .serviceUnavailable
            }
        }
    }

    /// The condition of `retry.on` that covers it.
    enum RetryRule {
        case never
        /// `connect`, and only if nothing was sent.
        case unsent
        /// `connect` if nothing was sent, else `terminated`.
        case lost
    }
}

extension CallFailure.Kind {
    package var facts: CallFailure.Facts {
        switch self {
        case .dnsError: .init("dns_error", .backend, breaker: true, retry: .unsent)
        case .connectionRefused:
            .init("connection_refused", .backend, breaker: true, retry: .unsent)
        case .connectionTimeout:
            .init("connection_timeout", .timeout, breaker: true, retry: .unsent)
        case .connectionTerminated:
            .init("connection_terminated", .backend, breaker: true, retry: .lost)
        // This process lacks descriptors or memory, which says nothing about the backend, and
        // another attempt would fail in the same way.
        case .connectionLimitReached: .init("connection_limit_reached", .refused)
        // Another attempt would receive the same certificate.
        case .tlsCertificateError: .init("tls_certificate_error", .backend, breaker: true)
        case .responseTimeout: .init("http_response_timeout", .timeout, breaker: true)
        case .responseIncomplete: .init("http_response_incomplete", .backend, breaker: true)
        case .responseHeaderSize:
            .init("http_response_header_section_size", .backend, breaker: true)
        case .responseHeaderCount: .init("http_response_header_count", .backend, breaker: true)
        case .responseBodySize: .init("http_response_body_size", .backend, breaker: true)
        case .responseContentCoding: .init("http_response_content_coding", .backend)
        case .protocolError:
            .init("http_protocol_error", .backend, breaker: true, retry: .unsent)
        case .destinationUnavailable: .init("destination_unavailable", .refused)
        case .unexpectedStatus: .init("unexpected_status", .backend)
        case .invalidJSON: .init("invalid_json", .backend)
        case .invalidShape: .init("invalid_shape", .backend)
        case .collision: .init("collision", .backend)
        case .tooManyElements: .init("too_many_elements", .backend)
        case .truncated: .init("truncated", .neutral)
        case .breakerOpen: .init("breaker_open", .refused)
        case .queueFull: .init("queue_full", .refused)
        case .skipped: .init("skipped", .neutral)
        case .cancelled: .init("cancelled", .neutral)
        }
    }
}
