import Basics
import HTTP

/// The credentials of an endpoint's requests: those that its authenticators check, and those that it
/// forwards to backends. OpenAPI describes headers with credentials as security schemes and ignores
/// `Authorization` as a parameter.
struct OpenAPISecurity {
    /// In lower case, for comparisons.
    static let header = "authorization"
    private static let forwardedScheme = "Authorization"

    /// The authenticators of which one must accept the request; empty for a public endpoint.
    let authenticators: [AuthenticatorPlan]
    /// The scopes that a caller must have.
    let scopes: [String]
    /// Whether `Authorization` is forwarded to a backend, and no authenticator reads it.
    let isForwarded: Bool
    /// Whether every request without it fails.
    let isNeeded: Bool

    /// - Parameters:
    ///   - forwardsAuthorization: whether a backend gets `Authorization`
    ///   - needsAuthorization: whether every request without it fails
    init(
        _ endpoint: EndpointPlan, of plan: Plan, forwardsAuthorization: Bool,
        needsAuthorization: Bool
    ) {
        let authenticators = endpoint.auth?.authenticators.map { plan.authenticators[$0] } ?? []
        self.authenticators = authenticators
        scopes = endpoint.auth?.scopes ?? []
        isForwarded =
            forwardsAuthorization
            && !authenticators.contains { $0.source.header == .authorization }
        isNeeded = isForwarded && needsAuthorization
    }

    /// Whether a header carries an authenticator's credential.
    func reads(_ name: String) -> Bool {
        FieldName(name).map { name in authenticators.contains { $0.source.header == name } }
            ?? false
    }

    /// The value of an operation's `security`, a list of alternatives; nil without credentials.
    var requirement: JSONTree? {
        guard !authenticators.isEmpty || isForwarded else { return nil }
        // An empty requirement means that a request without credentials is valid too.
        let checked: [[(String, JSONTree)]] =
            authenticators.isEmpty ? [[]] : authenticators.map { [($0.name, .texts(scopes))] }
        guard isForwarded else { return .list(checked.map { .object($0) }) }
        let forwarded = [(Self.forwardedScheme, JSONTree.list([]))]
        let both = checked.map { $0 + forwarded }
        return .list((isNeeded ? both : both + checked).map { .object($0) })
    }

    /// The value of `components.securitySchemes`; nil if no operation has credentials.
    static func schemes(of operations: [OpenAPISecurity]) -> JSONTree? {
        var schemes: [(String, JSONTree)] = []
        for authenticator in operations.flatMap(\.authenticators)
        where !schemes.contains(where: { $0.0 == authenticator.name }) {
            schemes.append((authenticator.name, scheme(of: authenticator)))
        }
        if operations.contains(where: \.isForwarded) {
            schemes.append((forwardedScheme, forwardedDescription))
        }
        return schemes.isEmpty ? nil : .object(schemes)
    }

    private static func scheme(of authenticator: AuthenticatorPlan) -> JSONTree {
        switch authenticator.source {
        case .bearer:
            .object([
                ("type", .text("http")), ("scheme", .text("bearer")),
                ("bearerFormat", .text("JWT")),
            ])
        case .cookie(let name):
            .object([
                ("type", .text("apiKey")), ("in", .text("cookie")), ("name", .text(String(name))),
            ])
        case .apiKey(let header), .token(let header):
            .object([
                ("type", .text("apiKey")), ("in", .text("header")), ("name", .text("\(header)")),
            ])
        case .basic: .object([("type", .text("http")), ("scheme", .text("basic"))])
        case .certificate: .object([("type", .text("mutualTLS"))])
        }
    }

    /// Which scheme of RFC 9110, section 11, clients use is between them and the backends.
    private static let forwardedDescription = JSONTree.object([
        ("type", .text("apiKey")), ("in", .text("header")), ("name", .text(forwardedScheme)),
        ("description", .text("Forwarded to backends, which check it.")),
    ])
}
