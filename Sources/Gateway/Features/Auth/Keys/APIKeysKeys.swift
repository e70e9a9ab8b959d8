package import YAMLReader

extension Config {
    /// `api_key:`, random keys in a header of their own.
    package struct APIKeys: Sendable {
        package let location: SourceLocation
        package var header: Located<String>?
        package var keys: Located<KeyFile>?

        init(location: SourceLocation) {
            self.location = location
        }
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

extension ValueReader where Value == String {
    /// A header that only contains a credential.
    static var credentialHeader: ValueReader {
        text(.headerName) { text throws(Refusal) in try Config.Authenticator.checkHeader(text) }
    }
}

/// An entry of the file of `api_key`.
struct APIKeyEntry: KeyFileEntry {
    var entry: Config.KeyEntry

    init(location: SourceLocation) {
        entry = Config.KeyEntry(location: location)
    }

    static let noun = "key"
    static let nameKey = "id"
    static let keys: [BlockKey<APIKeyEntry>] =
        [
            .value(
                "id", \.entry.id, .callerName, isRequired: true,
                "name of the caller, in the log and for calls ({request.caller})")
        ] + entryKeys
}

extension ValueReader where Value == String {
    static var callerName: ValueReader {
        .scalar(.scalar, expected: "must be a name") { scalar throws(Refusal) in
            try KeyFileSyntax.check(callerName: scalar.text)
            return scalar.text
        }
    }
}
