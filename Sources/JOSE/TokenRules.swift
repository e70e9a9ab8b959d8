package import Basics
package import JSONText

/// The claims of a token that was accepted.
package struct TokenClaims: Sendable, Equatable {
    /// The payload, a valid JSON object without duplicate names.
    package let payload: JSONSlice
    /// `exp` in whole seconds since 1970.
    package let expires: Int64
}

/// What header and claims of a token must have to be accepted.
package struct TokenRules: Sendable, Equatable {
    /// One of these equals `iss`, byte for byte; nil accepts any issuer, and none.
    package let issuers: [Bytes]?
    /// At least one of these is in `aud`; nil accepts any audience.
    package let audiences: [Bytes]?
    package let algorithms: [SignatureAlgorithm]
    /// The `typ` that is required; nil accepts the usual ones, and a header without it.
    package let type: TokenType?
    /// The seconds by which clocks may differ, for `exp` and `nbf`.
    package let leeway: Int64

    package init(
        issuers: [Bytes]?, audiences: [Bytes]?, algorithms: [SignatureAlgorithm],
        type: TokenType? = nil, leeway: Int64
    ) {
        self.issuers = issuers
        self.audiences = audiences
        self.algorithms = algorithms
        self.type = type
        // The bound keeps sums with times from overflowing.
        self.leeway = min(max(leeway, 0), 1 << 32)
    }

    /// Checks a token: its header, its key, its signature, then its claims.
    ///
    /// - Parameter now: in whole seconds since 1970
    package func verify(
        _ token: CompactJWS, with keys: KeySet, now: Int64
    ) throws(TokenFault) -> TokenClaims {
        let algorithm = try checkHeader(of: token)
        let key = try keys.key(for: token.header, algorithm)
        guard key.verify(token, algorithm) else {
            // The key was selected without its id, so the key of this id is unknown.
            if let id = token.header.keyID, key.id == nil { throw .untrusted(.unknownKey(id)) }
            throw .untrusted(.signature)
        }
        return try checkClaims(token.payload, now: now)
    }

    /// Checks everything but the key and the signature, while the keys are not known.
    package func checkWithoutKey(
        _ token: CompactJWS, now: Int64
    ) throws(TokenFault) -> TokenClaims {
        _ = try checkHeader(of: token)
        return try checkClaims(token.payload, now: now)
    }

    // MARK: Steps

    private func checkHeader(of token: CompactJWS) throws(TokenFault) -> SignatureAlgorithm {
        let name = token.header.algorithmName
        guard let algorithm = SignatureAlgorithm(rawValue: String(name)),
            algorithms.contains(algorithm)
        else { throw .untrusted(.algorithm(name)) }
        guard let given = token.header.type else {
            guard type == nil else { throw .untrusted(.type(Bytes())) }
            return algorithm
        }
        guard let known = TokenType(given), type == nil || type == known else {
            throw .untrusted(.type(given))
        }
        return algorithm
    }

    private func checkClaims(_ payload: Bytes, now: Int64) throws(TokenFault) -> TokenClaims {
        let object = try TokenObject.read(payload, .payload)
        var claims = RegisteredClaims()
        for member in object.members { claims.take(member) }
        try checkIssuer(claims.issuer)
        try checkAudience(claims.audience)
        guard let expires = try Self.time(claims.expires, "exp") else {
            throw .untrusted(.noExpiry)
        }
        guard isCurrent(expires: expires.floor, now: now) else {
            throw .expired(at: expires.floor)
        }
        if let start = try Self.time(claims.notBefore, "nbf"), start.ceiling > now + leeway {
            throw .notYetValid(from: start.ceiling)
        }
        return TokenClaims(payload: object, expires: expires.floor)
    }

    /// Whether a token has not expired (RFC 7519 section 4.1.4: the time must be before `exp`).
    package func isCurrent(expires: Int64, now: Int64) -> Bool { now < expires + leeway }

    private func checkIssuer(_ value: JSONSlice?) throws(TokenFault) {
        guard let issuers else { return }
        guard let value else { throw .untrusted(.issuer(nil)) }
        guard let issuer = value.stringText else { throw .malformed(.claim("iss")) }
        guard issuers.contains(issuer) else { throw .untrusted(.issuer(issuer)) }
    }

    /// RFC 7519 section 4.1.3: a string, or an array of strings.
    private func checkAudience(_ value: JSONSlice?) throws(TokenFault) {
        guard let audiences else { return }
        guard let value else { throw .untrusted(.audience) }
        var isAccepted = false
        switch value.kind {
        case .string: isAccepted = value.stringText.map(audiences.contains) ?? false
        case .array:
            for element in value.elements {
                guard let audience = element.stringText else { throw .malformed(.claim("aud")) }
                if audiences.contains(audience) { isAccepted = true }
            }
        default: throw .malformed(.claim("aud"))
        }
        guard isAccepted else { throw .untrusted(.audience) }
    }

    private static func time(
        _ value: JSONSlice?, _ name: String
    ) throws(TokenFault) -> NumericDate? {
        guard let value else { return nil }
        guard let date = NumericDate(value) else { throw .malformed(.claim(name)) }
        return date
    }
}

/// The claims that the rules read (RFC 7519 section 4.1).
private struct RegisteredClaims {
    var issuer: JSONSlice?
    var audience: JSONSlice?
    var expires: JSONSlice?
    var notBefore: JSONSlice?

    mutating func take(_ member: JSONMembers.Element) {
        switch true {
        case member.key.means(Name.issuer): issuer = member.value
        case member.key.means(Name.audience): audience = member.value
        case member.key.means(Name.expires): expires = member.value
        case member.key.means(Name.notBefore): notBefore = member.value
        default: break
        }
    }
}

/// The media type of a token, in `typ`.
package enum TokenType: String, CaseIterable, Sendable {
    case jwt = "JWT"
    /// RFC 9068
    case accessToken = "at+jwt"

    /// A media type has no case, and its `application/` may be omitted (RFC 7515 section 4.1.9).
    init?(_ text: Bytes) {
        let name = String(text).lowercased()
        let prefix = "application/"
        let short = name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : name
        guard let type = Self.allCases.first(where: { $0.rawValue.lowercased() == short }) else {
            return nil
        }
        self = type
    }
}
