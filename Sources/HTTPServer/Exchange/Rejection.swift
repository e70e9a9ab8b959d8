import HTTP

/// Why the server itself responds to a request, before or instead of its service.
enum Rejection: Equatable {
    /// The input is not a request, or its body is malformed or breaks off.
    case malformed(WireError)
    /// HTTP without TLS at a listener that requires TLS.
    ///
    /// - `mayBeHead`: whether the input may be a HEAD request, whose response has no body
    case unencrypted(mayBeHead: Bool)
    /// A head or a body took too long.
    case tooSlow
    /// A limit is reached; nil: the request waited for its client while a limit was short.
    case overloaded(ServerLosses.Refusal?)
    /// The service failed without a response: an internal error.
    case failed

    var status: Status {
        switch self {
        case .malformed(let error): error.status
        case .unencrypted: .badRequest
        case .tooSlow: .requestTimeout
        case .overloaded: .serviceUnavailable
        case .failed: .internalServerError
        }
    }

    /// Its name in the access log.
    var reason: StaticString {
        switch self {
        case .malformed(let error): error.name
        case .unencrypted: "not_encrypted"
        case .tooSlow: "too_slow"
        case .overloaded(let limit): limit?.name ?? "waiting"
        case .failed: "internal_error"
        }
    }

    /// How it is counted; nil for what is counted where it is decided, and for internal errors.
    var refusal: ServerLosses.Refusal? {
        switch self {
        case .malformed, .unencrypted: .malformed
        case .tooSlow: .tooSlow
        case .overloaded, .failed: nil
        }
    }

    /// Whether the input begins like a HEAD request that the reader has not seen.
    var mayBeHead: Bool { self == .unencrypted(mayBeHead: true) }

    /// A problem document (RFC 9457), which reveals no internals.
    func response(_ id: RequestID, _ settings: ServerSettings) -> Response {
        let problem = Problem(status, instance: id)
        guard case .overloaded = self else { return problem.response() }
        return problem.response([.retryAfter: FieldValue(settings.retryAfter)])
    }
}
