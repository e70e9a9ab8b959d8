import GatewayConfig
import HTTP

/// The credentials that an endpoint forwards to its backends: OpenAPI describes `Authorization` as
/// a security scheme and ignores it as a parameter.
struct OpenAPISecurity {
    /// In lower case, for comparisons.
    static let header = "authorization"
    private static let scheme = "Authorization"

    /// Whether `Authorization` is forwarded to a backend.
    let isForwarded: Bool
    /// Whether every request without it fails.
    let isNeeded: Bool

    /// The value of an operation's `security`; nil if no credentials are forwarded.
    var requirement: JSONTree? {
        guard isForwarded else { return nil }
        let required = JSONTree.object([(Self.scheme, .list([]))])
        // An empty requirement means that a request without credentials is valid too.
        return .list(isNeeded ? [required] : [required, .object([])])
    }

    /// The value of `components.securitySchemes`. Which scheme of RFC 9110, section 11, clients use
    /// is between them and the backends.
    static var schemes: JSONTree {
        .object([
            (
                scheme,
                .object([
                    ("type", .text("apiKey")), ("in", .text("header")), ("name", .text(scheme)),
                    ("description", .text("Forwarded to backends, which check it.")),
                ])
            )
        ])
    }
}
