package import HTTP

extension Config.SecurityHeaders {
    /// The header lines of all responses.
    ///
    /// `Strict-Transport-Security` is not among them: it must not be sent without TLS (RFC 6797 7.2),
    /// and it binds a whole domain for a long time, so operators decide (`response_headers`).
    package var fields: Fields {
        switch self {
        case .none: Fields()
        case .nosniff: Self.nosniffFields
        case .api: Self.apiFields
        }
    }

    private static let nosniffFields: Fields = ["X-Content-Type-Options": "nosniff"]

    /// For responses that no browser shows as a page.
    private static let apiFields: Fields = [
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Resource-Policy": "same-site",
    ]
}
