import Basics
package import HTTP

/// Where a request has the credential that an authenticator checks.
package enum CredentialSource: Sendable, Equatable {
    /// The value of a header is the key.
    case apiKey(FieldName)
    /// `Authorization: Basic` (RFC 7617).
    case basic

    /// What a request has at such a place.
    enum Content {
        case none
        /// Without the name of the scheme.
        case credential(Bytes)
        /// Several, so that it is not clear which one counts.
        case ambiguous

        var isNone: Bool { if case .none = self { true } else { false } }
    }

    /// The kind of the credential: the authentication scheme of the challenge.
    package var scheme: String {
        switch self {
        case .apiKey: "ApiKey"
        case .basic: "Basic"
        }
    }

    /// The header that has the credential.
    package var header: FieldName {
        switch self {
        case .apiKey(let name): name
        case .basic: .authorization
        }
    }

    /// The credential of a request. Another scheme in `Authorization` is none.
    func content(of fields: Fields) -> Content {
        guard let value = fields.single(header)?.bytes else {
            return fields.contains(header) ? .ambiguous : .none
        }
        switch self {
        case .apiKey: return .credential(value)
        case .basic: return value.credential(of: "basic").map { .credential($0) } ?? .none
        }
    }
}

extension Bytes {
    /// What follows the name of the scheme in a value of `Authorization`; nil for another scheme
    /// (RFC 9110 11.4).
    ///
    /// - Parameter scheme: in lower case
    func credential(of scheme: StaticString) -> Bytes? {
        let name = scheme.utf8CodeUnitCount
        guard count >= name, count == name || self[name] == UInt8(ascii: " ") else { return nil }
        let expected = scheme.span
        for index in 0..<name where self[index] | 0x20 != expected[index] { return nil }
        var start = name
        while start < count, self[start] == UInt8(ascii: " ") { start += 1 }
        return self[start..<count]
    }
}
