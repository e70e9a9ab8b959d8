import Rehearsal

/// The drawn `auth:` of a configuration.
struct DrawnAuth {
    var authenticators: [DrawnAuthenticator]

    var tree: Tree { .named(authenticators) { ($0.name, $0.tree) } }
}

struct DrawnAuthenticator {
    var kind: Kind
    /// Those in its key file.
    var callers: [DrawnCaller]

    /// Each kind occurs at most once; two of them read the same header.
    enum Kind: String, CaseIterable {
        case keys, more, far, basic
        /// Certificates of clients.
        case certificate

        /// Those whose credential is in the head of a request.
        static let ofHead: [Kind] = [.keys, .more, .far, .basic]
    }

    var name: String { kind.rawValue }
    var file: String { "\(name)-keys.yaml" }

    /// Nil for passwords and certificates.
    var header: String? {
        switch kind {
        case .keys, .more: "X-Key"
        case .far: "X-Far"
        case .basic, .certificate: nil
        }
    }

    /// The header with its credential; nil for certificates.
    var credentialHeader: String? {
        kind == .certificate ? nil : header ?? "Authorization"
    }

    fileprivate var tree: Tree {
        if kind == .certificate {
            return .members(["certificate": .members(["san": .array([.text("spiffe://shop/*")])])])
        }
        let keys = Tree.members(["keys": .scalar(file)])
        return header.map { .members(["api_key": keys.setting("header", .scalar($0))]) }
            ?? .members(["basic": keys])
    }
}

/// The clients that may have a key. Their keys are also their passwords.
enum DrawnCaller: String, CaseIterable {
    case ann, ben, cat, zoe
    /// Its key has expired.
    case old
    /// Has a certificate, and no key.
    case partner = "spiffe://shop/partner"

    /// Those with keys.
    static let holders: [DrawnCaller] = [.ann, .ben, .cat, .zoe, .old]

    var key: String { "key-\(rawValue)" }

    /// SHA-256 of the key.
    fileprivate var hash: String {
        switch self {
        case .ann: "a82937400c2cc11407f5bb2f9af56eded40d3002f15bdf996f5b70917bf8edb1"
        case .ben: "0aa65abacbc45330b7adefdc459ffae5e617a37d5a069c5b5e75ebd78a8ace4f"
        case .cat: "ae162ec2c530b7f1fa8ec0bde90da66847ff9ed827c009655b29fd6fbf13aad8"
        case .zoe: "95e3b71b05b555c1911ae8f9517f48134dba70e4efa0604c88f14461eba71d36"
        case .old: "28443aeace889b3e9bc4411f134e860309beea04d7202417db03953fffcec3cf"
        case .partner: ""
        }
    }

    /// The value of `Authorization` with the name and the key.
    var basic: String {
        switch self {
        case .ann: "Basic YW5uOmtleS1hbm4="
        case .ben: "Basic YmVuOmtleS1iZW4="
        case .cat: "Basic Y2F0OmtleS1jYXQ="
        case .zoe: "basic em9lOmtleS16b2U="
        case .old: "Basic b2xkOmtleS1vbGQ="
        case .partner: ""
        }
    }

    var scopes: [String] {
        switch self {
        case .ann, .old: ["read", "write"]
        case .ben: ["read"]
        case .cat, .zoe, .partner: []
        }
    }
}

/// `auth:` of an endpoint.
struct DrawnEndpointAuth {
    /// Empty for a public endpoint.
    var kinds: [DrawnAuthenticator.Kind] = []
    var scopes: [String] = []
    /// `require:`
    var requirements: [DrawnCondition] = []
    /// Not written: `defaults` has it.
    var isInherited = false

    var tree: Tree? {
        if isInherited { return nil }
        if kinds.isEmpty { return .scalar("none") }
        let names = Tree.list(kinds.map(\.rawValue))
        if scopes.isEmpty, requirements.isEmpty { return names }
        return Tree.members(["any": names])
            .setting("scopes", scopes.isEmpty ? nil : .list(scopes))
            .setting("require", requirements.isEmpty ? nil : .array(requirements.map(\.tree)))
    }
}

extension DrawnAuth {
    /// The content of a key file; nil if no authenticator names it.
    func keyFile(_ path: String) -> String? {
        guard
            let authenticator = authenticators.first(where: {
                $0.kind != .certificate && path.hasSuffix($0.file)
            })
        else {
            return nil
        }
        let name = authenticator.kind == .basic ? "user" : "id"
        let entries = authenticator.callers.map { caller in
            // The simulated clock begins in 2026.
            let expires = caller == .old ? ", expires: \"2025-06-30T12:00:00Z\"" : ""
            return "- { \(name): \(caller.rawValue), hash: \"sha256:\(caller.hash)\","
                + " scopes: [\(caller.scopes.joined(separator: ", "))]\(expires) }\n"
        }
        return entries.isEmpty ? "[]\n" : entries.joined()
    }
}

/// Draws authenticators, and the credentials of requests.
struct AuthDraw {
    let random: RandomSource

    /// - Parameter former: that of the configuration before a reload
    /// - Parameter hasCertificates: clients may have certificates
    func auth(after former: DrawnAuth? = nil, hasCertificates: Bool = false) -> DrawnAuth? {
        // A reload mostly keeps them, so that it adds and removes keys.
        guard random.chance(former == nil ? 0.25 : 0.9) else { return nil }
        // Every other configuration has all of them.
        var kinds = DrawnAuthenticator.Kind.ofHead
        if random.chance(0.5) { kinds = Array(kinds.prefix(random.number(1...3))) }
        if hasCertificates, random.derived("certificate").chance(0.7) {
            kinds.insert(.certificate, at: random.derived("place").number(0...kinds.count))
        }
        if let former, random.chance(0.8) { kinds = former.authenticators.map(\.kind) }
        return DrawnAuth(
            authenticators: kinds.enumerated().map { index, kind in
                let random = random.derived("callers", index)
                let callers: [DrawnCaller] = kind == .more ? [.zoe, .old] : DrawnCaller.holders
                return DrawnAuthenticator(
                    kind: kind, callers: callers.filter { _ in random.chance(0.75) })
            })
    }

    /// - Parameter auth: that of the configuration
    func endpoint(_ endpoint: DrawnEndpoint, _ auth: DrawnAuth?) -> DrawnEndpointAuth? {
        guard let auth else { return nil }
        let random = random.derived("endpoint", endpoint.index)
        let kinds = auth.authenticators.map(\.kind)
        switch random.number(0...9) {
        case 0: return DrawnEndpointAuth()
        case 1...4: return DrawnEndpointAuth(kinds: [kinds[0]], isInherited: true)
        default:
            var some = kinds.filter { _ in random.chance(0.6) }
            if some.isEmpty { some = kinds }
            return DrawnEndpointAuth(
                kinds: some,
                scopes: random.maybe(0.4, random.pick([["read"], ["read", "write"]])) ?? [],
                requirements: requirements(random.derived("require"), endpoint))
        }
    }

    private func requirements(
        _ random: RandomSource, _ endpoint: DrawnEndpoint
    ) -> [DrawnCondition] {
        guard random.chance(0.5) else { return [] }
        return (0..<random.pick([1, 1, 2])).map { index in
            ConditionDraw(
                random: random.derived("condition", index), params: endpoint.params,
                reads: .requirement
            ).condition()
        }
    }

    /// Adds credentials: mostly one that its endpoint accepts.
    func complete(_ request: inout ScriptedRequest, _ endpoint: DrawnEndpoint) {
        guard endpoint.auth != nil || random.chance(0.05) else { return }
        let caller = random.pick([DrawnCaller.ann, .ann, .ann, .ann, .ben, .cat, .zoe, .old])
        var lines: [(name: String, value: String)] = []
        switch random.number(0...19) {
        case 0: break
        case 1: lines = [("X-Key", "wrong"), ("X-Far", caller.key)]
        case 2: lines = [("X-Key", caller.key), ("X-Key", caller.key)]
        case 3: lines = [("Authorization", caller.basic), ("Authorization", "Bearer x")]
        case 4: lines = [("X-Key", caller.key), ("X-Far", caller.key)]
        case 5: lines = [("Authorization", random.pick(["Bearer x", "Basic !", "Basic"]))]
        case 6: lines = [("X-Key", random.pick(["", "key-", "key-Ann", "key-ann,key-ann"]))]
        case 7: lines = [("Authorization", "Basic YW5uOndyb25n"), ("X-Key", caller.key)]
        case 8: lines = [("Authorization", caller.basic), ("X-Key", "wrong")]
        default: lines = [credential(of: caller, for: endpoint)]
        }
        request.headers += lines
    }

    private func credential(
        of caller: DrawnCaller, for endpoint: DrawnEndpoint
    ) -> (name: String, value: String) {
        switch random.pick((endpoint.auth?.kinds ?? []) + (endpoint.isProtected ? [] : [.keys])) {
        case .basic: ("Authorization", caller.basic)
        case .far: ("X-Far", caller.key)
        case .keys, .more, .certificate: ("X-Key", caller.key)
        }
    }
}
