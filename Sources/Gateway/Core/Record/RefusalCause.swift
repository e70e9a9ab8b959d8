/// What exactly is wrong with a refused token, for the access log. The client only learns the
/// `RefusalReason`.
///
/// A closed list of names, so that the log never has a part of a token.
package enum RefusalCause: UInt8, Sendable, CaseIterable {
    case empty
    case tooLong
    /// It has five parts (JWE).
    case encrypted
    case notThreeParts
    /// A part is not base64url.
    case encoding
    /// A part is not a JSON object.
    case notObject
    /// An object has a name twice.
    case duplicateName
    /// A parameter of the header is missing or has the wrong type.
    case headerParameter
    /// A claim has the wrong type.
    case claimType
    /// The header has `crit`.
    case critical
    /// `typ`
    case type
    /// `alg` is not one of `algorithms`.
    case algorithm
    /// No key has the `kid`.
    case unknownKey
    case keyDoesNotFit
    /// Without `kid`, several keys fit.
    case severalKeys
    case signature
    case issuer
    case audience
    /// Without `exp`.
    case noExpiry

    package var name: StaticString {
        switch self {
        case .empty: "empty"
        case .tooLong: "too_long"
        case .encrypted: "encrypted"
        case .notThreeParts: "not_three_parts"
        case .encoding: "encoding"
        case .notObject: "not_an_object"
        case .duplicateName: "duplicate_name"
        case .headerParameter: "header_parameter"
        case .claimType: "claim_type"
        case .critical: "critical"
        case .type: "type"
        case .algorithm: "algorithm"
        case .unknownKey: "unknown_key"
        case .keyDoesNotFit: "key_does_not_fit"
        case .severalKeys: "several_keys"
        case .signature: "signature"
        case .issuer: "issuer"
        case .audience: "audience"
        case .noExpiry: "no_expiry"
        }
    }
}
