import Basics
import HTTP
import JSONText

/// The caller of simulated requests, which have no credentials. What the endpoint requires of a
/// caller, `scopes` and `require`, is checked.
package struct AssumedCaller {
    private let name: String
    /// Nil for those that the endpoint requires.
    private let scopes: [String]?
    private let plan: String?
    /// A JSON object; nil without stated claims.
    private let claims: Bytes?

    package struct InvalidClaims: Error {}

    /// A caller that every endpoint accepts, unless its `require` needs certain values.
    package init() {
        name = Self.defaultName
        scopes = nil
        plan = nil
        claims = nil
    }

    /// - Parameters:
    ///   - name: nil for `sub` of the claims, else `simulated`
    ///   - scopes: nil for those that the endpoint requires
    ///   - claims: a JSON object; claims that calls use and that it does not have are added
    package init(
        name: String?, scopes: [String]?, plan: String?, claims: String?
    ) throws(InvalidClaims) {
        self.scopes = scopes
        self.plan = plan
        guard let claims else {
            self.name = name ?? Self.defaultName
            self.claims = nil
            return
        }
        guard let object = try? JSONSlice(validating: Bytes(claims)), object.kind == .object else {
            throw InvalidClaims()
        }
        self.claims = object.bytes
        let subject = JSONPath(steps: [.key(Bytes("sub"))])
        self.name =
            name ?? object.value(at: subject)?.text.map { String($0) } ?? Self.defaultName
    }

    private static let defaultName = "simulated"

    /// The caller for one endpoint. It has claims where the endpoint accepts tokens.
    func caller(of auth: EndpointAuthPlan) -> Caller {
        Caller(
            authenticator: Bytes(), name: Bytes(name),
            scopes: (scopes ?? auth.scopes).map { Bytes($0) }, plan: plan.map { Bytes($0) },
            claims: auth.acceptsTokens
                ? AssumedClaims(subject: name, stated: claims, used: auth.claims).json : nil)
    }
}
