package import YAMLReader

extension Config {
    /// One of `auth:`, a method by which clients prove their identity: exactly one of the blocks.
    package struct Authenticator: Sendable {
        package let name: Located<String>
        package let location: SourceLocation
        package var apiKey: APIKeys?
        package var basic: Passwords?
        package var jwt: JWT?
        package var certificate: ClientCertificateRule?

        init(name: Located<String>, location: SourceLocation) {
            self.name = name
            self.location = location
        }
    }

    /// `auth_failures:`
    package enum AuthFailures: Sendable, Equatable {
        case off
        case rate(Rate)
    }

    /// `auth:` of an endpoint or of `defaults`.
    package enum AuthSetting: Sendable {
        /// The endpoint is public.
        case none
        case rule(AuthRule)
    }

    /// Which callers an endpoint accepts.
    package struct AuthRule: Sendable {
        package let location: SourceLocation
        /// The names of authenticators, of which one must accept the request.
        package var any: [Located<String>] = []
        /// Those that the caller must have, all of them.
        package var scopes: [Located<String>] = []
        /// Conditions on the head of the request and the caller, which must all hold.
        package var require: [Located<Condition>] = []

        init(location: SourceLocation) {
            self.location = location
        }
    }
}

extension Config.Authenticator {
    /// The key file of either kind.
    package var keyFile: Located<Config.KeyFile>? { apiKey?.keys ?? basic?.keys }

    /// The header that clients send their credential in; nil for a certificate.
    package var credentialHeader: String? {
        if certificate != nil { return nil }
        if let jwt { return jwt.header }
        guard let apiKey else { return "Authorization" }
        return apiKey.header?.value ?? PlanDefaults.apiKeyHeader
    }

    /// The same as a message may quote it.
    package var quotedCredentialHeader: String? {
        (apiKey?.header ?? jwt?.place?.header)?.quoted ?? credentialHeader
    }
}

enum AuthKeys {
    static let root: [BlockKey<Config>] = [
        .list(
            "auth", \.authenticators, .named(),
            "authenticators: how clients prove their identity, by name"),
        .value(
            "auth_failures", \.authFailures, .authFailures,
            default: .text(PlanDefaults.authFailures.spelled),
            "rate of refused credentials of one address; more get 429; off for no limit"),
    ]

    static let defaults: [BlockKey<Config.Defaults>] = [
        .value("auth", \.auth, .auth, "authenticators of endpoints that do not set auth")
    ]

    static let endpoint: [BlockKey<Config.Endpoint>] = [
        .value(
            "auth", \.auth, .auth, default: .key("defaults.auth"),
            "which authenticators accept its requests; none makes it public")
    ]
}

extension Config {
    /// Nil where neither the endpoint nor `defaults` has `auth`.
    package func auth(of endpoint: Endpoint) -> Located<AuthSetting>? {
        endpoint.auth ?? defaults?.auth
    }

    /// Which callers an endpoint accepts; nil for a public one.
    package func authRule(of endpoint: Endpoint) -> AuthRule? {
        if case .rule(let rule)? = auth(of: endpoint)?.value { rule } else { nil }
    }
}

extension Config.Authenticator: NamedBlock {
    static let noun = "authenticator"

    static func problem(withName name: String) -> String? {
        if name == "none" {
            return
                "no authenticator can have the name 'none'; 'auth: none' makes an endpoint public"
        }
        return Config.Param.isName(name)
            ? nil
            : "bad name '\(name)' of an authenticator; names consist of letters, digits, _ and -"
    }

    static let alternatives = [["api_key", "basic", "jwt", "certificate"]]

    static let keys: [BlockKey<Config.Authenticator>] = [
        .block("api_key", \.apiKey, "random keys, which clients send in a header"),
        .block("basic", \.basic, "generated passwords, sent by HTTP Basic authentication"),
        .block("jwt", \.jwt, "tokens that an issuer signs, such as OAuth 2.0 access tokens"),
        .block(
            "certificate", \.certificate,
            "client certificates that a listener with client_ca has verified"),
    ]
}

extension Config.AuthRule: PlainBlock {
    static let keys: [BlockKey<Config.AuthRule>] = [
        .list(
            "any", \.any, .oneOrMany(of: .text), isRequired: true,
            "authenticators, of which one must accept the request"),
        .list(
            "scopes", \.scopes, .oneOrMany(of: .scope),
            "scopes that the caller must have, all of them; else 403"),
        .list(
            "require", \.require, .filledList(of: .block),
            "conditions on the head of the request and the caller that must all hold; else 403"),
    ]
}

extension ValueReader where Value == Config.AuthSetting {
    /// `none`, the name of an authenticator, a list of names, or a block.
    static var auth: ValueReader {
        let names = ValueReader<[Located<String>]>.oneOrMany(of: .text)
        let block = ValueReader<Config.AuthRule>.block
        return ValueReader(schema: .either([block.schema, names.schema])) { node, decoder in
            switch node.content {
            case .mapping: return block.read(node, &decoder).map { .rule($0) }
            case .scalar(let scalar) where scalar.text == "none": return Config.AuthSetting.none
            case .scalar(let scalar) where scalar.type == .null:
                decoder.fail(
                    node.location, "must name authenticators; 'auth: none' makes an endpoint public"
                )
                return nil
            case .scalar, .sequence:
                return names.read(node, &decoder).map { names in
                    var rule = Config.AuthRule(location: node.location)
                    rule.any = names
                    return .rule(rule)
                }
            }
        }
    }
}

extension ValueReader where Value == Config.AuthFailures {
    /// A rate, or `off`.
    static var authFailures: ValueReader {
        let rate = ValueReader<Config.Rate>.rate
        let schema = ValueSchema.either([rate.schema, .choice(["off"])])
        return ValueReader(schema: schema) { node, decoder in
            if case .scalar(let scalar) = node.content, scalar.text == "off" { return .off }
            return rate.read(node, &decoder).map { .rate($0) }
        }
    }
}

extension ValueReader where Value == String {
    static var scope: ValueReader {
        text { text throws(Refusal) in try KeyFileSyntax.check(scope: text) }
    }
}
