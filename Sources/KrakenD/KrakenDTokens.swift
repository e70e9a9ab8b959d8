import Gateway
import YAMLReader

/// The validators of all endpoints, and the authenticators that they become: one for each different
/// validator and place of the token.
struct KrakenDTokens {
    /// By the location of the endpoint.
    private var validators: [SourceLocation: KrakenDValidator] = [:]
    private var refusals: [SourceLocation: Refusal] = [:]
    private var known: [Known] = []

    private struct Known {
        let name: String
        let key: String
        let members: [(String, YAMLTree)]
        /// The name of the file for the secret; nil if the validator has its keys.
        let secretFile: String?
        let isSymmetric: Bool
        let location: SourceLocation
    }

    /// - Parameters:
    ///   - endpoints: those that only a validator protects, with the validator
    ///   - revoker: withdraws tokens before they expire
    init(
        _ endpoints: [(endpoint: DocumentNode, member: DocumentNode.Member)],
        revoker: DocumentNode.Member?, _ backends: inout KrakenDBackends
    ) {
        for (endpoint, member) in endpoints {
            do throws(Refusal) {
                if let revoker {
                    throw Refusal(
                        "tokens can be revoked by '\(revoker.key)', which has no equivalent",
                        at: member.keyLocation)
                }
                let validator = try KrakenDValidator(member, of: endpoint, &backends)
                validators[endpoint.location] = validator
                for place in validator.places { add(validator, place, member.keyLocation) }
            } catch {
                refusals[endpoint.location] = error
            }
        }
    }

    private mutating func add(
        _ validator: KrakenDValidator, _ place: KrakenDValidator.Place,
        _ location: SourceLocation
    ) {
        let key = Self.key(validator, place)
        guard !known.contains(where: { $0.key == key }) else { return }
        let names = known.map(\.name)
        var name = "tokens"
        var count = 1
        while names.contains(name) {
            count += 1
            name = "tokens_\(count)"
        }
        let members = validator.jwt + (place.tree.map { [("token", $0)] } ?? [])
        let same = known.first { $0.key.hasPrefix(validator.identity) }
        let secretFile = validator.secret.map { _ in same?.secretFile ?? name + ".jwks" }
        known.append(
            Known(
                name: name, key: key, members: members, secretFile: secretFile,
                isSymmetric: validator.isSymmetric, location: location))
    }

    private static func key(_ validator: KrakenDValidator, _ place: KrakenDValidator.Place)
        -> String
    {
        validator.identity + (place.tree.map { $0.lines.map(\.text).joined() } ?? "")
    }

    var isUsed: Bool { !known.isEmpty }

    func validator(of endpoint: DocumentNode) -> KrakenDValidator? {
        validators[endpoint.location]
    }

    func refusal(of endpoint: DocumentNode) -> Refusal? { refusals[endpoint.location] }

    /// The value of `auth` of an endpoint with a validator; nil if it has been refused.
    func setting(of endpoint: DocumentNode, _ findings: inout ImportFindings) -> YAMLTree? {
        guard let validator = validator(of: endpoint) else { return nil }
        findings.add(validator.findings)
        let keys = validator.places.map { Self.key(validator, $0) }
        let names = known.filter { keys.contains($0.key) }.map(\.name)
        let any = names.count == 1 ? YAMLTree.text(names[0]) : .texts(names)
        guard !validator.scopes.isEmpty || !validator.conditions.isEmpty else { return any }
        var members = [("any", any)]
        if !validator.scopes.isEmpty { members.append(("scopes", .texts(validator.scopes))) }
        guard !validator.conditions.isEmpty else { return .inline(members) }
        members.append(("require", .list(validator.conditions)))
        return .block(members)
    }

    /// The members of the top-level `auth`.
    ///
    /// - Parameter isChecked: other keys, for a check that has neither the files nor the certificates of
    ///   this system
    func authenticators(isChecked: Bool) -> [(String, YAMLTree)] {
        known.map { known in
            var members = known.members
            if let file = known.secretFile {
                members.append(("keys", .inline([("file", .text(file))])))
            }
            if isChecked {
                members.removeAll { $0.0 == "keys" }
                members.append(("keys", known.isSymmetric ? Self.anySecret : Self.anyKeys))
            }
            return (known.name, .located(.block([("jwt", .block(members))]), known.location))
        }
    }

    private static let anySecret = YAMLTree.inline([
        ("secret", .text(String(repeating: "x", count: 64)))
    ])
    private static let anyKeys = YAMLTree.inline([("url", .text("http://127.0.0.1/keys"))])
}
