import HTTP

/// The result of one health check.
enum HealthCheckResult: Equatable {
    case healthy
    /// A response with another status than 200 to 299.
    case status(Status)
    /// No response.
    case failed(CallFailure.Kind)

    init(_ status: Status) {
        self = status.code / 100 == 2 ? .healthy : .status(status)
    }

    /// Why the host counts as failed: `status 503`, or the kind of failure; nil for a success.
    var reason: String? {
        switch self {
        case .healthy: nil
        case .status(let status): "status \(status.code)"
        case .failed(let kind): kind.facts.name
        }
    }
}
