package import Basics

/// Why a token is rejected.
package enum TokenFault: Error, Equatable, Sendable {
    /// It is not a token in the form that this module reads.
    case malformed(Malformation)
    /// It is a token, but not one that the rules trust.
    case untrusted(Distrust)
    /// Its `exp` has passed, in seconds since 1970.
    case expired(at: Int64)
    /// Its `nbf` is in the future, in seconds since 1970.
    case notYetValid(from: Int64)

    package enum Malformation: Equatable, Sendable {
        case tooLong
        case encrypted
        case notThreeParts
        case encoding(Part)
        case notObject(Part)
        case duplicateName(Part)
        /// A parameter of the header has the wrong type, or is missing.
        case parameter(String)
        /// A claim has the wrong type.
        case claim(String)
    }

    package enum Part: String, Equatable, Sendable {
        case header, payload, signature
    }

    package enum Distrust: Equatable, Sendable {
        case critical
        case type(Bytes)
        case algorithm(Bytes)
        case unknownKey(Bytes?)
        case keyDoesNotFit(Bytes?, SignatureAlgorithm)
        case severalKeys
        case signature
        case issuer(Bytes?)
        case audience
        case noExpiry
    }
}

extension TokenFault: CustomStringConvertible {
    /// One sentence without a full stop, for the log and for `token check`.
    package var description: String {
        switch self {
        case .malformed(let malformation): malformation.description
        case .untrusted(let distrust): distrust.description
        case .expired(let time): "exp \(time) has passed"
        case .notYetValid(let time): "nbf \(time) is in the future"
        }
    }
}

extension TokenFault.Malformation: CustomStringConvertible {
    package var description: String {
        switch self {
        case .tooLong: "the token is longer than \(CompactJWS.sizeMax) bytes"
        case .encrypted: "the token is encrypted (five parts), which is not supported"
        case .notThreeParts: "a token has three parts, separated by dots"
        case .encoding(let part):
            "the \(part.rawValue) is not base64url without padding and with zero spare bits"
        case .notObject(let part): "the \(part.rawValue) is not a valid JSON object"
        case .duplicateName(let part): "the \(part.rawValue) contains a name twice in one object"
        case .parameter(let name): "'\(name)' of the header is missing or has the wrong type"
        case .claim(let name): "the claim '\(name)' has the wrong type"
        }
    }
}

extension TokenFault.Distrust: CustomStringConvertible {
    package var description: String {
        switch self {
        case .critical: "the header contains 'crit', of which no extension is supported"
        case .type(let type): "typ '\(String(type))' is not accepted"
        case .algorithm(let name): "alg '\(String(name))' is not in 'algorithms'"
        case .unknownKey(let id?): "no key has kid '\(String(id))'"
        case .unknownKey(nil): "the token has no kid, and no key fits its algorithm"
        case .keyDoesNotFit(let id?, let algorithm):
            "the key with kid '\(String(id))' does not fit \(algorithm.rawValue) (kty, crv, alg)"
        case .keyDoesNotFit(nil, let algorithm): "no key fits \(algorithm.rawValue)"
        case .severalKeys: "more than one key fits, so the token needs a kid that selects one"
        case .signature: "the signature is wrong"
        case .issuer(let issuer?): "iss '\(String(issuer))' is not the configured issuer"
        case .issuer(nil): "the claim 'iss' is missing"
        case .audience: "aud does not contain the configured audience"
        case .noExpiry: "the claim 'exp' is missing"
        }
    }
}
