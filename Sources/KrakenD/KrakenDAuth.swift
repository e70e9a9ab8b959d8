import Gateway
import TLS
import YAMLReader

/// Converts KrakenD's API keys, passwords and tokens (`auth/api-keys`, `auth/basic`,
/// `auth/validator`) to authenticators, so that the endpoints that they protect stay protected.
struct KrakenDAuth {
    static let keysExtra = "auth/api-keys"
    static let basicExtra = "auth/basic"
    private static let extras = [keysExtra, basicExtra, KrakenDValidator.extra]
    private static let keysName = "api_keys"
    private static let basicName = "basic"
    private static let keysFile = "api-keys.yaml"
    private static let basicFile = "passwords.yaml"

    /// The files that the result names; they do not exist yet.
    static let files = [keysFile, basicFile]

    /// The blocks of the service.
    private let keys: DocumentNode.Member?
    private let basic: DocumentNode.Member?
    /// The extensions that endpoints use.
    private let used: Set<String>
    /// The sets of roles of which endpoints need one.
    private let roleSets: [[String]]
    private let tokens: KrakenDTokens

    init(_ root: DocumentNode, _ backends: inout KrakenDBackends) {
        func extra(_ key: String) -> DocumentNode.Member? {
            root["extra_config"]?.members.last { $0.key == key }
        }
        keys = extra(Self.keysExtra)
        basic = extra(Self.basicExtra)
        let protected = (root["endpoints"]?.elements ?? []).compactMap { endpoint in
            Self.only(of: endpoint).map { (endpoint, $0) }
        }
        tokens = KrakenDTokens(
            protected.filter { $0.1.key == KrakenDValidator.extra }, revoker: extra("auth/revoker"),
            &backends)
        let members = protected.map(\.1)
        used = Set(members.map(\.key).filter { $0 != KrakenDValidator.extra })
        var sets: [[String]] = []
        for member in members where member.key == Self.keysExtra {
            let roles = Self.roles(member.node)
            if roles.count > 1, !sets.contains(roles) { sets.append(roles) }
        }
        roleSets = sets
    }

    /// Whether the result has authenticators, so that public endpoints must say so.
    var isUsed: Bool { !used.isEmpty || tokens.isUsed }

    /// Whether an extension of the service became an authenticator.
    func converts(_ key: String) -> Bool {
        used.contains(key) || key == KrakenDValidator.extra && tokens.isUsed
    }

    // MARK: Endpoints

    /// The only protection of an endpoint, if it is one that can be converted. With several, KrakenD
    /// requires all of them.
    private static func only(of endpoint: DocumentNode) -> DocumentNode.Member? {
        let protections = KrakenDProtection.all(ofEndpoint: endpoint)
        guard protections.count == 1, let only = protections.first else { return nil }
        return endpoint["extra_config"]?.members.first {
            $0.keyLocation == only.location && extras.contains($0.key)
        }
    }

    /// Why the tokens of an endpoint cannot be checked in the same way; nil if they can, or if it
    /// does not only have tokens.
    func refusal(of endpoint: DocumentNode) -> Refusal? { tokens.refusal(of: endpoint) }

    /// Whether `{token.claim}` refers to a claim in an endpoint.
    func readsTokens(_ endpoint: DocumentNode) -> Bool { tokens.validator(of: endpoint) != nil }

    /// The headers of an endpoint that have claims.
    func headers(of endpoint: DocumentNode) -> [(name: String, claim: String)] {
        tokens.validator(of: endpoint)?.headers ?? []
    }

    /// The headers in which clients send the credential that the authenticators of an endpoint check.
    func credentials(of endpoint: DocumentNode) -> [String] {
        guard let member = Self.only(of: endpoint) else { return [] }
        switch member.key {
        case KrakenDValidator.extra:
            return tokens.validator(of: endpoint)?.places.map(\.header) ?? []
        case Self.keysExtra:
            var ignored = ImportFindings()
            return [header(&ignored)]
        default: return ["Authorization"]
        }
    }

    /// The value of `auth` of an endpoint; nil if its protection cannot be converted.
    func setting(of endpoint: DocumentNode, _ findings: inout ImportFindings) -> YAMLTree? {
        guard let member = Self.only(of: endpoint) else { return nil }
        if member.key == KrakenDValidator.extra {
            return tokens.setting(of: endpoint, &findings).map {
                .located($0, member.keyLocation)
            }
        }
        guard member.key == Self.keysExtra else {
            return .located(.text(Self.basicName), member.keyLocation)
        }
        for inner in member.node.members where inner.key != "roles" {
            findings.reportLoss(of: inner, among: Self.lossesOfEndpoint)
        }
        let roles = Self.roles(member.node)
        guard !roles.isEmpty else { return .located(.text(Self.keysName), member.keyLocation) }
        return .located(
            .inline([("any", .text(Self.keysName)), ("scopes", .text(Self.scope(for: roles)))]),
            member.keyLocation)
    }

    private static let lossesOfEndpoint: [String: ImportLoss] = [
        "identifier": .warning("the header of the service applies"),
        "strategy": .warning("the header of the service applies"),
        "client_max_rate": .warning(
            "write a rate limit with 'key: \"{request.caller}\"', and list it on the endpoints"),
        "propagate_role": .warning(
            "'{request.caller}' sends the name of the caller, not its role"),
    ]

    // MARK: Roles

    private static func roles(_ node: DocumentNode) -> [String] { node["roles"]?.texts ?? [] }

    /// One of several roles is enough in KrakenD, and all scopes are needed here: a set of roles
    /// becomes a scope of its own, which every key with one of the roles gets.
    private static func scope(for roles: [String]) -> String {
        roles.map(encoded).joined(separator: "|")
    }

    /// Different roles stay different, whatever characters they have.
    private static func encoded(_ role: String) -> String {
        String(
            decoding: role.utf8.flatMap { byte -> [UInt8] in
                let isPlain =
                    (0x21...0x7E).contains(byte) && !"\"\\%|".utf8.contains(byte)
                return isPlain
                    ? [byte]
                    : Array("%\(String(byte >> 4, radix: 16))\(String(byte & 15, radix: 16))".utf8)
            }, as: UTF8.self)
    }

    private func scopes(ofKeyWith roles: [String]) -> [String] {
        roles.map(Self.encoded)
            + roleSets.filter { !Set($0).isDisjoint(with: roles) }.map(Self.scope)
    }

    // MARK: Service

    /// The value of the top-level `auth`; nil without one.
    func tree(_ findings: inout ImportFindings) -> YAMLTree? {
        var members: [(String, YAMLTree)] = []
        if used.contains(Self.keysExtra) {
            let block = YAMLTree.inline([
                ("header", .text(header(&findings))), ("keys", .text(Self.keysFile)),
            ])
            members.append((Self.keysName, .inline([("api_key", block)])))
            reportKeys(&findings)
        }
        if used.contains(Self.basicExtra) {
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
        members += tokens.authenticators(isChecked: false)
        return members.isEmpty ? nil : .block(members)
    }

    /// The value without files and certificates, which may not exist on this machine.
    func checkedTree() -> YAMLTree? {
        var ignored = ImportFindings()
        guard case .block(let members)? = tree(&ignored) else { return nil }
        let names = Set(tokens.authenticators(isChecked: true).map(\.0))
        return .block(
            members.filter { !names.contains($0.0) } + tokens.authenticators(isChecked: true))
    }

    /// KrakenD's default is `Authorization`, which other schemes need.
    private func header(_ findings: inout ImportFindings) -> String {
        let node = keys?.node
        let location = keys?.keyLocation
        let isQuery = node?["strategy"]?.text == "query_string"
        let name = isQuery ? nil : node?["identifier"]?.text
        if let name, (try? Config.Authenticator.checkHeader(name)) != nil { return name }
        if let location {
            findings.warning(
                at: node?["identifier"]?.location ?? location,
                "clients must send their keys in the header '\(PlanDefaults.apiKeyHeader)'"
                    + (isQuery
                        ? ": keys in URLs end up in logs"
                        : " instead of '\(name ?? "Authorization")'"))
        }
        return PlanDefaults.apiKeyHeader
    }

    private func reportKeys(_ findings: inout ImportFindings) {
        guard let keys else { return }
        findings.note(
            at: keys.keyLocation,
            "the keys are at the end of the result, as hashes; write them to '\(Self.keysFile)'")
        for (index, key) in entries.enumerated() where hash(of: key) == nil {
            findings.warning(
                at: key.location,
                "key-\(index + 1) cannot be converted: its hash is not a SHA-256 without salt;"
                    + " generate a new key: tributary key new key-\(index + 1) >> \(Self.keysFile)")
        }
        for member in keys.node.members where !Self.known.contains(member.key) {
            findings.reportLoss(of: member, among: Self.lossesOfEndpoint)
        }
    }

    private static let known: Set<String> = ["keys", "hash", "salt", "identifier", "strategy"]

    // MARK: Key file

    private var entries: [DocumentNode] { keys?.node["keys"]?.elements ?? [] }

    /// The content of the key file, as comments that follow the configuration.
    var keyFileLines: [YAMLLine] {
        guard used.contains(Self.keysExtra) else { return [] }
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
        guard let text = key["key"]?.text, !text.isEmpty else { return nil }
        switch keys?.node["hash"]?.text ?? "plain" {
        case "plain": return SHA256.hash(Array(text.utf8)).flatMap { KeyHash($0) }
        case "sha256" where keys?.node["salt"]?.text?.isEmpty ?? true:
            return try? KeyHash(parsing: "sha256:" + text)
        default: return nil
        }
    }
}
