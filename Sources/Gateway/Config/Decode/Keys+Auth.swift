import YAMLReader

/// The keys of `auth`: authenticators, and which of them an endpoint accepts.
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
        .block("jwt", \.jwt, "tokens that an issuer signs, such as those of OAuth 2.0"),
        .block(
            "certificate", \.certificate,
            "client certificates that a listener with client_ca has verified"),
    ]
}

extension Config.Authenticator {
    /// The header of an API key has nothing but the key.
    package static func checkHeader(_ name: String) throws(Refusal) {
        try HeaderSyntax.check(name: name)
        let lowercased = name.lowercased()
        guard lowercased != "authorization", lowercased != "proxy-authorization" else {
            throw Refusal(
                "must not be '\(name)', whose value begins with the name of a scheme; use a header"
                    + " such as X-Api-Key")
        }
        guard lowercased != "cookie", !HeaderSyntax.describesMessage(name),
            !HeaderSyntax.isForwarding(name)
        else { throw Refusal("must not be '\(name)', which has another meaning") }
    }
}

extension Config.APIKeys: PlainBlock {
    static let keys: [BlockKey<Config.APIKeys>] = [
        .value(
            "header", \.header, .credentialHeader, default: .text(PlanDefaults.apiKeyHeader),
            "request header that has the key"),
        .value(
            "keys", \.keys, .keyFile(of: APIKeyEntry.self), isRequired: true,
            "YAML file with a list of keys: id, hash, scopes, expires, plan; read again on reload"),
    ]
}

extension Config.Passwords: PlainBlock {
    static let keys: [BlockKey<Config.Passwords>] = [
        .value(
            "keys", \.keys, .keyFile(of: PasswordEntry.self), isRequired: true,
            "YAML file with a list of passwords: user, hash, scopes, expires, plan; read again on"
                + " reload")
    ]
}

extension Config.ClientCertificateRule: PlainBlock {
    static let keys: [BlockKey<Config.ClientCertificateRule>] = [
        .list(
            "san", \.names, .filledList(of: .namePattern),
            "URIs and DNS names, of which the certificate must have one; * at the end or as the first"
                + " label; all verified certificates if absent")
    ]
}

extension ValueReader where Value == NamePattern {
    static var namePattern: ValueReader {
        .scalar(.text(format: .text), expected: "must be a text") { scalar throws(Refusal) in
            try NamePattern(parsing: scalar.text)
        }
    }
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
    /// A header that only contains a credential.
    static var credentialHeader: ValueReader {
        text(.headerName) { text throws(Refusal) in try Config.Authenticator.checkHeader(text) }
    }

    static var scope: ValueReader {
        text { text throws(Refusal) in try KeyFileSyntax.check(scope: text) }
    }
}
