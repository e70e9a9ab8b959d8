import HTTP

/// The result of one health check.
enum HealthCheckResult: Equatable {
    case healthy
    /// A response with another status than 200 to 299.
    case status(Status)
    /// No response.
    ///
    /// - `detail`: the text of the error, for operators
    case failed(CallFailure.Kind, detail: String?)

    init(_ status: Status) {
        self = status.code / 100 == 2 ? .healthy : .status(status)
    }

    /// Why the host counts as failed: `status 503`, or the kind of failure with its text; nil for a
    /// success.
    var reason: String? {
        switch self {
        case .healthy: nil
        case .status(let status): "status \(status.code)"
        case .failed(let kind, let detail):
            kind.facts.name + (detail.map { ": \($0)" } ?? "")
        }
    }
}
