package import HTTP

extension Config {
    /// `security_headers:`, which security headers all responses have.
    package enum SecurityHeaders: String, Sendable, CaseIterable {
        case none, nosniff, api
    }
}

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

/// Fixed header fields of responses.
enum FixedHeadersKeys {
    static let root: [BlockKey<Config>] = [
        .value(
            "security_headers", \.securityHeaders, .choice,
            default: .choice(PlanDefaults.securityHeaders),
            "security headers of all responses"),
        .list(
            "response_headers", \.responseHeaders, .responseHeaders,
            "fixed header fields of all responses"),
    ]

    static let endpoint: [BlockKey<Config.Endpoint>] = [
        .list(
            "response_headers", \.responseHeaders, .responseHeaders,
            "fixed header fields of its responses, added to the top-level `response_headers`")
    ]
}

extension ValueReader where Value == [Config.Header] {
    /// Fixed header lines of responses.
    static var responseHeaders: ValueReader {
        let map = ValueReader.map(
            of: ValueReader<String>.headerValue, checkingKey: HeaderSyntax.check(responseName:)
        ) { name, value in Config.Header(name: name, value: value) }
        return ValueReader(
            schema: .headers(ValueReader<String>.headerValue.schema), read: map.read)
    }
}

extension HeaderSyntax {
    /// Refuses the headers that responses have anyway, with the value of the moment.
    @Sendable static func check(responseName name: String) throws(Refusal) {
        try checkToken(name)
        let lowercased = name.lowercased()
        if isCORS(name) {
            throw Refusal("must not be '\(name)'; write 'cors' instead")
        }
        if lowercased == "cache-control" {
            throw Refusal("must not be '\(name)'; write 'cache_control' on an endpoint instead")
        }
        guard !isConnectionField(name), !describesMessage(name), !ownFields.contains(lowercased)
        else {
            throw Refusal("must not be '\(name)'; the gateway sets it itself")
        }
    }

    private static let ownFields = [
        "x-request-id", "gateway-complete", "gateway-failures", "server-timing", "retry-after",
        "allow",
    ]
}
