import Basics
import YAMLReader

/// The keys of an entry in a key file.
protocol KeyFileEntry: PlainBlock {
    var entry: Config.KeyEntry { get set }
    /// The noun for it in messages.
    static var noun: String { get }
    /// The key that has its name.
    static var nameKey: String { get }
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

extension KeyFileEntry {
    static var entryKeys: [BlockKey<Self>] {
        [
            .value(
                "hash", \.entry.hash, .keyHash, isRequired: true,
                "sha256: and the SHA-256 hash in hexadecimal digits"),
            .list("scopes", \.entry.scopes, .list(of: .scope), "scopes of the caller"),
            .value(
                "expires", \.entry.expires, .unixTime,
                "time from which it is refused, in quotes: \"2026-12-31T00:00:00Z\""),
            .value("plan", \.entry.plan, .text, "plan of the caller, for rate limits"),
        ]
    }
}

extension ValueReader where Value == KeyHash {
    static var keyHash: ValueReader {
        .scalar(.text(format: .secret), expected: "must be sha256: and 64 hexadecimal digits") {
            scalar throws(Refusal) in
            try KeyHash(parsing: scalar.text)
        }
    }
}

extension ValueReader where Value == Int64 {
    static var unixTime: ValueReader {
        .scalar(.text(format: .text), expected: TimeText.message) { scalar throws(Refusal) in
            try TimeText.unixTime(scalar.text)
        }
    }
}

extension ValueReader where Value == String {
    static var callerName: ValueReader {
        .scalar(.scalar, expected: "must be a name") { scalar throws(Refusal) in
            try KeyFileSyntax.check(callerName: scalar.text)
            return scalar.text
        }
    }

    static var userName: ValueReader {
        .scalar(.scalar, expected: "must be a name") { scalar throws(Refusal) in
            try KeyFileSyntax.check(userName: scalar.text)
            return scalar.text
        }
    }
}
