import Basics
import HTTP
import HTTPClient

/// Why one call gave no part: what the report says, and what the status table asks.
package struct CallFailure: Error {
    let kind: Kind
    /// The call that failed, by its index in the endpoint; set when the failure is noted.
    var call: Int?
    /// The backend's, for `unexpectedStatus`.
    var status: Status?
    /// The limit that struck.
    var limit: Duration?
    /// For `skipped`: the call, or the place in the request, whose value was missing.
    var because: Because?
    /// For `collision`: the key that was there already.
    var key: String?
    /// The host that was asked last, with its port; known only where the endpoint exposes details.
    var host: FieldValue?
    /// The error's text; shown only where the endpoint exposes details.
    var detail: String?
    /// What the backend asked to wait, in seconds.
    var retryAfter: Int?
    /// The answer itself, kept where the call relays its body.
    var answer: ClientResponse?

    /// The names of RFC 9209 (section 2.3) where it has one, and ours.
    package enum Kind: String, CaseIterable {
        case dnsError = "dns_error"
        case connectionRefused = "connection_refused"
        case connectionTimeout = "connection_timeout"
        case connectionTerminated = "connection_terminated"
        case connectionLimitReached = "connection_limit_reached"
        case tlsCertificateError = "tls_certificate_error"
        case responseTimeout = "http_response_timeout"
        case responseIncomplete = "http_response_incomplete"
        case responseBodySize = "http_response_body_size"
        case protocolError = "http_protocol_error"
        case destinationUnavailable = "destination_unavailable"
        case unexpectedStatus = "unexpected_status"
        case invalidJSON = "invalid_json"
        case invalidShape = "invalid_shape"
        case collision
        case breakerOpen = "breaker_open"
        case queueFull = "queue_full"
        case skipped
        case cancelled
    }

    /// Whose value was missing.
    enum Because: Equatable {
        case call(String)
        /// `request.header.Name`, `request.body.field` or `params.name`: the client did not send it.
        case client(String)

        var text: String {
            switch self {
            case .call(let name), .client(let name): name
            }
        }
    }
}

extension CallFailure {
    /// A timeout of any sort: 504 rather than 502.
    var isTimeout: Bool {
        switch kind {
        case .responseTimeout, .connectionTimeout: true
        case .dnsError, .connectionRefused, .connectionTerminated, .tlsCertificateError,
            .responseIncomplete, .responseBodySize, .protocolError, .destinationUnavailable,
            .unexpectedStatus, .invalidJSON,
            .invalidShape, .collision, .breakerOpen, .queueFull, .skipped, .cancelled,
            .connectionLimitReached:
            false
        }
    }

    /// Refused by us, before anything was sent: 503 rather than 502.
    var isRefusal: Bool {
        kind == .breakerOpen || kind == .queueFull || kind == .destinationUnavailable
            || kind == .connectionLimitReached
    }

    /// Says nothing about the backend, and so has no vote in the status of an answer.
    var isSilent: Bool { kind == .skipped || kind == .cancelled }
}
