import Gateway
import TLS
import YAMLReader

/// Converts KrakenD's API keys, passwords and tokens (`auth/api-keys`, `auth/basic`,
/// `auth/validator`) to authenticators, so that the endpoints that they protect stay protected.
struct KrakenDAuth {
    /// How the result checks the callers of one endpoint.
    struct Access {
        /// The value of `auth`.
        let setting: YAMLTree
        /// The headers in which clients send the credential.
        let credentials: [String]
        /// The headers that contain claims.
        var headers: [(name: String, claim: String)] = []
        /// Whether `{token.claim}` refers to a claim.
        var hasTokens = false
        var findings = ImportFindings()
    }

    /// An authenticator for tokens: one for each different validator and place of the token.
    private struct Authenticator {
        let name: String
        let validator: KrakenDValidator
        let place: KrakenDValidator.Place
        /// The name of the file for the secret; nil if the validator has its keys.
        let secretFile: String?
        let location: SourceLocation

        var key: String { validator.identity + " " + place.identity }

        /// The member of the top-level `auth`.
        ///
        /// - Parameter isChecked: other keys, for a check that has neither the files nor the
        ///   certificates of this system
        func member(isChecked: Bool) -> (String, YAMLTree) {
            var members = validator.jwt + (place.tree.map { [("token", $0)] } ?? [])
            var keys = secretFile.map { ("file", YAMLTree.text($0)) }
            if isChecked {
                members.removeAll { $0.0 == "keys" }
                let secret = String(repeating: "x", count: 64)
                keys =
                    validator.isSymmetric
                    ? ("secret", .text(secret)) : ("url", .text("http://127.0.0.1/keys"))
            }
            if let keys { members.append(("keys", .inline([keys]))) }
            return (name, .located(.block([("jwt", .block(members))]), location))
        }
    }

    private static let keysName = "api_keys"
    private static let basicName = "basic"
    private static let keysFile = "api-keys.yaml"
    private static let basicFile = "passwords.yaml"

    /// The files that the result names; they do not exist yet.
    static let files = [keysFile, basicFile]

    /// The blocks of the service.
    private let keys: DocumentNode.Member?
    private let basic: DocumentNode.Member?
    private var usesKeys = false
    private var usesBasic = false
    /// The sets of roles of which endpoints need one.
    private var roleSets: [[String]] = []
    private var authenticators: [Authenticator] = []
    /// By the location of the endpoint.
    private var accesses: [SourceLocation: Access] = [:]
    private var refusals: [SourceLocation: Refusal] = [:]

    init(_ root: DocumentNode, _ backends: inout KrakenDBackends) {
        keys = root.extra(KrakenDExtra.keys)
        basic = root.extra(KrakenDExtra.basic)
        let revoker = root.extra("auth/revoker")
        for endpoint in root["endpoints"]?.elements ?? [] {
            guard let member = Self.onlyProtection(of: endpoint) else { continue }
            do throws(Refusal) {
                switch member.key {
                case KrakenDExtra.keys: accesses[endpoint.location] = accessByKey(member)
                case KrakenDExtra.basic:
                    usesBasic = true
                    accesses[endpoint.location] = Access(
                        setting: .located(.text(Self.basicName), member.keyLocation),
                        credentials: ["Authorization"])
                case KrakenDExtra.validator:
                    if let revoker {
                        throw Refusal(
                            "tokens can be revoked by '\(revoker.key)', which has no equivalent",
                            at: member.keyLocation)
                    }
                    accesses[endpoint.location] = accessByToken(
                        try KrakenDValidator(member.node, of: endpoint, &backends),
                        member.keyLocation)
                default: break
                }
            } catch {
                refusals[endpoint.location] = error
            }
        }
    }

    /// The only protection of an endpoint. With several, KrakenD requires all of them.
    private static func onlyProtection(of endpoint: DocumentNode) -> DocumentNode.Member? {
        let protections = KrakenDProtection.all(ofEndpoint: endpoint)
        guard protections.count == 1 else { return nil }
        return endpoint.extras.first { $0.keyLocation == protections[0].location }
    }

    private mutating func accessByKey(_ member: DocumentNode.Member) -> Access {
        usesKeys = true
        let roles = Self.roles(member.node)
        if roles.count > 1, !roleSets.contains(roles) { roleSets.append(roles) }
        let name = YAMLTree.text(Self.keysName)
        let setting: YAMLTree =
            roles.isEmpty
            ? name : .inline([("any", name), ("scopes", .text(Self.scope(for: roles)))])
        let access = Access(
            setting: .located(setting, member.keyLocation), credentials: [keyHeader])
        KrakenDTable.keysOfEndpoint.report(member.node, access.findings)
        return access
    }

    private mutating func accessByToken(
        _ validator: KrakenDValidator, _ location: SourceLocation
    ) -> Access {
        let keys = validator.places.map { validator.identity + " " + $0.identity }
        for (place, key) in zip(validator.places, keys)
        where !authenticators.contains(where: { $0.key == key }) {
            let name = KrakenDBackends.unique(
                "tokens", among: authenticators.map(\.name), separator: "_")
            let same = authenticators.first { $0.validator.identity == validator.identity }
            let secretFile = validator.secret.map { _ in same?.secretFile ?? name + ".jwks" }
            authenticators.append(
                Authenticator(
                    name: name, validator: validator, place: place, secretFile: secretFile,
                    location: location))
        }
        let names = authenticators.filter { keys.contains($0.key) }.map(\.name)
        var setting = names.count == 1 ? YAMLTree.text(names[0]) : .texts(names)
        let members = YAMLTree.members([
            ("any", setting), ("scopes", .texts(unlessEmpty: validator.scopes)),
            ("require", validator.conditions.isEmpty ? nil : .list(validator.conditions)),
        ])
        if !validator.conditions.isEmpty {
            setting = .block(members)
        } else if members.count > 1 {
            setting = .inline(members)
        }
        return Access(
            setting: .located(setting, location), credentials: validator.places.map(\.header),
            headers: validator.headers, hasTokens: true, findings: validator.findings)
    }

    /// Whether the result has authenticators, so that public endpoints must say so.
    var isUsed: Bool { usesKeys || usesBasic || !authenticators.isEmpty }

    /// Whether an extension of the service became an authenticator.
    func converts(_ key: String) -> Bool {
        switch key {
        case KrakenDExtra.keys: usesKeys
        case KrakenDExtra.basic: usesBasic
        case KrakenDExtra.validator: !authenticators.isEmpty
        default: false
        }
    }

    /// Nil if the endpoint has no protection, or one that cannot be converted.
    func access(to endpoint: DocumentNode) -> Access? { accesses[endpoint.location] }

    /// Why the tokens of an endpoint cannot be checked in the same way; nil if they can, or if it
    /// does not only have tokens.
    func refusal(of endpoint: DocumentNode) -> Refusal? { refusals[endpoint.location] }

    // MARK: Roles

    private static func roles(_ node: DocumentNode) -> [String] { node["roles"]?.texts ?? [] }

    /// One of several roles is enough in KrakenD, and all scopes are needed here: a set of roles
    /// becomes a scope of its own, which every key with one of the roles gets.
    private static func scope(for roles: [String]) -> String {
        roles.map(encoded).joined(separator: "|")
    }

    /// Different roles stay different, whatever characters they have.
    private static func encoded(_ role: String) -> String {
        let bytes = role.utf8.flatMap { byte -> [UInt8] in
            if (0x21...0x7E).contains(byte), !"\"\\%|".utf8.contains(byte) { return [byte] }
            return Array("%\(String(byte >> 4, radix: 16))\(String(byte & 15, radix: 16))".utf8)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func scopes(ofKeyWith roles: [String]) -> [String] {
        roles.map(Self.encoded)
            + roleSets.filter { !Set($0).isDisjoint(with: roles) }.map(Self.scope)
    }

    // MARK: Service

    /// The value of the top-level `auth`; nil without one.
    ///
    /// - Parameter isChecked: without files and certificates, which may not exist on this machine
    func tree(_ findings: ImportFindings, isChecked: Bool = false) -> YAMLTree? {
        var members: YAMLMembers = []
        if usesKeys {
            let block: YAMLMembers = [
                ("header", .text(keyHeader)), ("keys", .text(Self.keysFile)),
            ]
            members.append((Self.keysName, .inline([("api_key", .inline(block))])))
            reportKeys(findings)
        }
        if usesBasic {
            let block = YAMLTree.inline([("keys", .text(Self.basicFile))])
            members.append((Self.basicName, .inline([("basic", block)])))
            if let basic {
                findings.warning(
                    at: basic.keyLocation,
                    "the hashes of '\(basic.key)' are too slow to be computed for every request;"
                        + " generate a password for each user: tributary key new USER --basic >>"
                        + " \(Self.basicFile)")
            }
        }
        members += authenticators.map { $0.member(isChecked: isChecked) }
        return members.isEmpty ? nil : .block(members)
    }

    private var sendsKeysInQuery: Bool { keys?.node["strategy"]?.text == "query_string" }

    /// KrakenD's default is `Authorization`, which other schemes need.
    private var keyHeader: String {
        guard !sendsKeysInQuery, let name = keys?.node["identifier"]?.text,
            (try? Config.Authenticator.checkHeader(name)) != nil
        else { return PlanDefaults.apiKeyHeader }
        return name
    }

    private func reportKeys(_ findings: ImportFindings) {
        guard let keys else { return }
        let name = keys.node["identifier"]?.text
        if keyHeader != name || sendsKeysInQuery {
            findings.warning(
                at: keys.node["identifier"]?.location ?? keys.keyLocation,
                "clients must send their keys in the header '\(PlanDefaults.apiKeyHeader)'"
                    + (sendsKeysInQuery
                        ? ": keys in URLs end up in logs"
                        : " instead of '\(name ?? "Authorization")'"))
        }
        findings.note(
            at: keys.keyLocation,
            "the keys are at the end of the result, as hashes; write them to '\(Self.keysFile)'")
        for (index, key) in entries.enumerated() where hash(of: key) == nil {
            findings.warning(
                at: key.location,
                "key-\(index + 1) cannot be converted: its hash is not a SHA-256 without salt;"
                    + " generate a new key: tributary key new key-\(index + 1) >> \(Self.keysFile)")
        }
        KrakenDTable.keys.report(keys.node, findings)
    }

    // MARK: Key file

    private var entries: [DocumentNode] { keys?.node["keys"]?.elements ?? [] }

    /// The content of the key file, as comments that follow the configuration.
    var keyFileLines: [YAMLLine] {
        guard usesKeys else { return [] }
        var lines = YAMLLine.comment("The file \(Self.keysFile):")
        for (index, key) in entries.enumerated() {
            guard let hash = hash(of: key) else { continue }
            let entry = try? KeyFileText.entry(
                name: "key-\(index + 1)", isBasic: false, hash: hash,
                scopes: scopes(ofKeyWith: Self.roles(key)), expires: nil,
                plan: key["plan"]?.text)
            lines += (entry ?? "").split(separator: "\n").map { YAMLLine("#   \($0)") }
        }
        return lines
    }

    /// The hash of a key; nil if KrakenD has a hash of another kind.
    private func hash(of key: DocumentNode) -> KeyHash? {
        guard let text = key["key"]?.name else { return nil }
        switch keys?.node["hash"]?.text ?? "plain" {
        case "plain": return SHA256.hash(Array(text.utf8)).flatMap { KeyHash($0) }
        case "sha256" where keys?.node["salt"]?.text?.isEmpty ?? true:
            return try? KeyHash(parsing: "sha256:" + text)
        default: return nil
        }
    }
}
