package import Basics
package import HTTP

/// Where a request has the credential that an authenticator checks.
package enum CredentialSource: Sendable, Equatable {
    /// The value of a header is the key.
    case apiKey(FieldName)
    /// `Authorization: Basic` (RFC 7617).
    case basic
    /// `Authorization: Bearer` (RFC 6750).
    case bearer
    /// The value of a header is the token.
    case token(FieldName)
    /// The value of a cookie is the token.
    case cookie(Bytes)
    /// The client's certificate, which is not part of a request.
    case certificate

    /// What a request has at this place.
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
        case .bearer, .token, .cookie: "Bearer"
        // Not registered; RFC 9110 11.6.1 requires a challenge for every 401.
        case .certificate: "Certificate"
        }
    }

    /// The header that has the credential; nil for a certificate.
    package var header: FieldName? {
        switch self {
        case .apiKey(let name), .token(let name): name
        case .basic, .bearer: .authorization
        case .cookie: .cookie
        case .certificate: nil
        }
    }

    /// The credential of a request; nil if it has none, or several.
    func credential(of head: RequestHead, _ peer: PeerAddress) -> Bytes? {
        if case .certificate = self { return peer.facts?.identity?.certificate }
        if case .credential(let credential) = content(of: head.fields) { return credential }
        return nil
    }

    /// What the fields of a request have at this place. Another scheme in `Authorization` is none.
    func content(of fields: Fields) -> Content {
        switch self {
        case .apiKey(let header), .token(let header): fields.credential(in: header)
        case .basic: fields.credential(of: "basic")
        case .bearer: fields.credential(of: "bearer")
        case .cookie(let name): fields.cookie(name)
        case .certificate: .none
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

extension Fields {
    fileprivate func credential(in header: FieldName) -> CredentialSource.Content {
        if let value = single(header) { return .credential(value.bytes) }
        return contains(header) ? .ambiguous : .none
    }

    /// - Parameter scheme: of `Authorization`, in lower case
    fileprivate func credential(of scheme: StaticString) -> CredentialSource.Content {
        let content = credential(in: .authorization)
        guard case .credential(let value) = content else { return content }
        return value.credential(of: scheme).map { .credential($0) } ?? .none
    }

    /// The value of a cookie (RFC 6265, section 4.2.1), which may be in quotes.
    fileprivate func cookie(_ name: Bytes) -> CredentialSource.Content {
        var found: Bytes?
        for line in all(.cookie) {
            for pair in line.bytes.parts(separatedBy: UInt8(ascii: ";")) {
                guard let value = pair.trimmed.value(ofCookie: name) else { continue }
                guard found == nil else { return .ambiguous }
                found = value
            }
        }
        return found.map { .credential($0) } ?? .none
    }
}

extension Bytes {
    /// The value of `NAME=value`; nil for another name. Names of cookies have a case.
    fileprivate func value(ofCookie name: Bytes) -> Bytes? {
        guard count > name.count, self[name.count] == UInt8(ascii: "="),
            self[0..<name.count] == name
        else { return nil }
        let value = self[(name.count + 1)..<count]
        guard value.count >= 2, value[0] == UInt8(ascii: "\""),
            value[value.count - 1] == UInt8(ascii: "\"")
        else { return value }
        return value[1..<(value.count - 1)]
    }
}
