import Basics
import HTTP
import HTTPClient
package import JOSE
import JSONText
import Reactor
import TLS

/// `jwt:`, compiled.
package struct TokenPlan: Equatable {
    package let rules: TokenRules
    let keys: Keys
    /// The claims that may have the scopes; the first one that a token has counts.
    let scopesClaims: [JSONPath]
    /// How many verified tokens each worker remembers.
    let rememberedMax: Int
    /// Issuers and keys, for people.
    let text: String

    /// Where the keys come from.
    enum Keys: Equatable {
        /// A JWK Set or PEM, read with the configuration.
        case file(Bytes)
        /// A symmetric JWK, a set of them, or the bytes of a secret, read with the configuration.
        case secretFile(Bytes)
        case secret(Bytes)
        case issuer(IssuerKeysPlan)
    }

    /// Whether the keys are fetched while the gateway runs.
    package var fetchesKeys: Bool { if case .issuer = keys { true } else { false } }

    /// The keys that are in the configuration; nil if they are fetched.
    package func configuredKeys() throws(KeySetError) -> KeySet? {
        switch keys {
        case .file(let text): try KeySet(file: text)
        case .secretFile(let text): try KeySet(secretFile: text)
        case .secret(let secret): KeySet(secret: secret)
        case .issuer: nil
        }
    }
}

/// The keys of an issuer, which are fetched while the gateway runs.
struct IssuerKeysPlan: Equatable {
    let server: Server
    /// Path and query of the JWK Set.
    let target: Target
    let rules: RefreshRules

    /// The bounds of a `max-age`.
    private static let lifetimes = Duration.seconds(60)...Duration.seconds(86_400)

    init(_ server: Server, _ target: Target, _ keys: Config.TokenKeys) {
        self.server = server
        self.target = target
        let interval = keys.unknownKid?.value ?? PlanDefaults.keysUnknownKid
        rules = RefreshRules(
            lifetime: keys.refresh?.value ?? PlanDefaults.keysRefresh, lifetimes: Self.lifetimes,
            stale: keys.stale?.value ?? PlanDefaults.keysStale, interval: interval,
            pauseMax: interval)
    }

    enum Server: Equatable {
        case origin(Origin, StreamSecurity?)
        case backend(IssuerBackend)
    }

    static func == (left: IssuerKeysPlan, right: IssuerKeysPlan) -> Bool {
        left.server == right.server && left.target.text == right.target.text
            && left.rules == right.rules
    }
}

/// A backend that keys are fetched from. Equal to one of a former plan if the same servers get the
/// same request: then its keys may be kept, also where its index has changed.
struct IssuerBackend: Equatable {
    /// In the plan.
    let index: Int
    private let name: String
    private let hosts: [Host]
    /// Of `headers:`.
    private let fields: Fields

    private struct Host: Equatable {
        let origin: Origin
        let pathPrefix: String
        let security: StreamSecurity?
    }

    init(_ plan: BackendPlan) {
        index = plan.index
        name = plan.name
        hosts = plan.hosts.map { host in
            Host(origin: host.origin, pathPrefix: host.pathPrefix, security: host.security)
        }
        fields = plan.fields
    }

    static func == (left: IssuerBackend, right: IssuerBackend) -> Bool {
        left.name == right.name && left.hosts == right.hosts && left.fields == right.fields
    }
}

// Compiles `jwt`.
extension Planner {
    func tokens(_ jwt: Config.JWT, of authenticator: String) throws(PlanError) -> TokenPlan {
        guard let source = jwt.keys else { throw PlanError("\(jwt.location): no keys") }
        let algorithms = jwt.acceptedAlgorithms
        let issuers = jwt.issuer?.value.names
        let audiences = jwt.audience?.value.names
        let leeway = jwt.leeway?.value ?? PlanDefaults.tokenLeeway
        return TokenPlan(
            rules: TokenRules(
                issuers: issuers?.map { Bytes($0.value) },
                audiences: audiences?.map { Bytes($0.value) }, algorithms: algorithms,
                type: jwt.type?.value, leeway: leeway.inNanoseconds / 1_000_000_000),
            keys: try keys(source, areSecret: algorithms.contains(where: \.isSymmetric)),
            scopesClaims: (jwt.scopesClaim?.value.paths ?? [["scope"], ["scp"]]).map { names in
                JSONPath(steps: names.map { .key(Bytes($0)) })
            },
            rememberedMax: jwt.remember?.value ?? PlanDefaults.tokensRemembered,
            text: "jwt of \(issuers?.map(\.quoted).joined(separator: " or ") ?? "any issuer"),"
                + " \(algorithms.map(\.rawValue).joined(separator: " ")), keys of"
                + " \(source.title)")
    }

    private func keys(
        _ source: Config.TokenKeys, areSecret: Bool
    ) throws(PlanError) -> TokenPlan.Keys {
        if let file = source.file?.value.content {
            return areSecret ? .secretFile(file) : .file(file)
        }
        if let secret = source.secretBytes { return .secret(secret) }
        let server: IssuerKeysPlan.Server
        let path: String
        if let url = source.url?.value {
            let isSecure = url.server.scheme == .https
            let origin = Origin(
                host: url.server.host, port: url.server.port, default: isSecure ? .https : .http)
            server = .origin(origin, isSecure ? try systemSecurity(source) : nil)
            path = url.target
        } else if let from = source.from, let get = source.get {
            let index = config.backends.firstIndex { $0.name.value == from.value }
            guard let index else { throw PlanError("\(from.location): no backend \(from.value)") }
            server = .backend(IssuerBackend(try plan(config.backends[index], index)))
            path = get.value
        } else {
            throw PlanError("\(source.location): no keys")
        }
        guard let target = Target(path) else {
            throw PlanError("\(source.location): not a request target")
        }
        return .issuer(IssuerKeysPlan(server, target, source))
    }

    private func systemSecurity(_ source: Config.TokenKeys) throws(PlanError) -> StreamSecurity? {
        do throws(TLSSettingsError) {
            return try contexts.context(
                for: try TLSSettings(nil, systemTrust: config.systemTrust)
            ).security
        } catch {
            throw PlanError("\(source.location): TLS settings that passed the check: \(error)")
        }
    }
}

extension Config.TokenKeys {
    /// As `check` shows it.
    fileprivate var title: String {
        if let url {
            // A query may contain a key of the issuer's service.
            var mask = QueryMask()
            return mask.masked(url.quoted(\.text), hasReferences: false)
        }
        if let from { return "backend \(from.quoted)" }
        return secret != nil ? "a secret" : "a file"
    }
}
