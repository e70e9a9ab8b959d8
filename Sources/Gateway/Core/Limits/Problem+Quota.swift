import Basics
import HTTP

extension Problem {
    /// The response of a limit: 429 or `status`.
    ///
    /// - Parameters:
    ///   - policies: the names of the limits, as a JSON array
    ///   - seconds: for `Retry-After`
    static func quota(
        violating policies: Bytes, status: Status? = nil, seconds: Int, instance: RequestID
    ) -> Response {
        Problem(.quota, status: status, type: quotaType, instance: instance)
            .with("violated-policies", json: policies)
            .response([.retryAfter: FieldValue(UInt64(seconds))])
    }

    /// The problem type of draft-ietf-httpapi-ratelimit-headers.
    private static let quotaType: StaticString =
        "https://iana.org/assignments/http-problem-types#quota-exceeded"
}
