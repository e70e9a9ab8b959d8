import Basics
import HTTP
import JSONText

/// `auth:` of an endpoint, compiled.
package struct EndpointAuthPlan {
    /// By index in the plan; at least one.
    package let authenticators: [Int]
    /// Those that a caller must have.
    package let scopes: [String]
    /// `require`: conditions that must all hold.
    let requirements: [ConditionPlan]
    /// Whether one of the authenticators reads tokens.
    let acceptsTokens: Bool
    /// The claims that the calls of the endpoint use.
    let claims: [JSONPath]
    /// `customers or partners, with orders:read`
    package let text: String

    init(
        _ rule: Config.AuthRule, of config: Config, requirements: [ConditionPlan],
        acceptsTokens: Bool, claims: [JSONPath]
    ) throws(PlanError) {
        self.acceptsTokens = acceptsTokens
        self.claims = claims
        var authenticators: [Int] = []
        for name in rule.any {
            guard
                let index = config.authenticators.firstIndex(where: {
                    $0.name.value == name.value
                })
            else { throw PlanError("\(name.location): no authenticator \(name.value)") }
            authenticators.append(index)
        }
        self.authenticators = authenticators
        scopes = rule.scopes.map(\.value)
        let names = rule.any.map(\.quoted).joined(separator: " or ")
        self.requirements = requirements
        let conditions = requirements.map(\.text).joined(separator: " and ")
        text =
            names
            + (scopes.isEmpty
                ? "" : ", with \(rule.scopes.map(\.quoted).joined(separator: " "))")
            + (conditions.isEmpty ? "" : ", if \(conditions)")
    }

    /// Whether a caller with a valid credential may get 403.
    var mayForbid: Bool { !scopes.isEmpty || !requirements.isEmpty || !claims.isEmpty }

    /// The query parameters that `require` uses.
    var queryNames: [Bytes] {
        requirements.flatMap(\.references).compactMap(\.source.queryName)
    }

    /// The headers that `require` uses.
    var headerNames: [FieldName] {
        requirements.flatMap(\.references).compactMap(\.source.headerName)
    }
}
