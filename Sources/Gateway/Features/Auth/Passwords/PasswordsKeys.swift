package import YAMLReader

extension Config {
    /// `basic:`, generated passwords in `Authorization` (RFC 7617).
    package struct Passwords: Sendable {
        package let location: SourceLocation
        package var keys: Located<KeyFile>?

        init(location: SourceLocation) {
            self.location = location
        }
    }
}

extension Config.Passwords: PlainBlock {
    static let keys: [BlockKey<Config.Passwords>] = [
        .value(
            "keys", \.keys, .keyFile(of: PasswordEntry.self), isRequired: true,
            "YAML file with a list of passwords: user, hash, scopes, expires, plan; read again on"
                + " reload")
    ]
}

/// An entry of the file of `basic`.
struct PasswordEntry: KeyFileEntry {
    var entry: Config.KeyEntry

    init(location: SourceLocation) {
        entry = Config.KeyEntry(location: location)
    }

    static let noun = "password"
    static let nameKey = "user"
    static let keys: [BlockKey<PasswordEntry>] =
        [
            .value(
                "user", \.entry.id, .userName, isRequired: true,
                "name of the user, who is the caller")
        ] + entryKeys
}

extension ValueReader where Value == String {
    static var userName: ValueReader {
        .scalar(.scalar, expected: "must be a name") { scalar throws(Refusal) in
            try KeyFileSyntax.check(userName: scalar.text)
            return scalar.text
        }
    }
}
