/// Why a key of a set is not used. The other keys of the set are used (RFC 7517 section 5).
package enum UnusableKey: Error, Equatable, Sendable {
    case notObject
    case duplicateName
    case privateKey
    case symmetric
    case asymmetric
    case keyType
    case curve
    case use
    case operations
    case algorithm
    case size(Int)
    case value
    case member(String)
}

extension UnusableKey: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notObject: "is not an object"
        case .duplicateName: "contains a name twice"
        case .privateKey: "contains a private key, which must not be published"
        case .symmetric: "is symmetric; secrets are not read from a set"
        case .asymmetric: "is not symmetric (kty oct), so it is no secret"
        case .keyType: "has a kty other than RSA, EC and OKP"
        case .curve: "has a crv other than P-256, P-384, P-521 and Ed25519"
        case .use: "has a use other than sig"
        case .operations: "has key_ops without verify"
        case .algorithm: "has an alg that is not supported"
        case .size(let bits): "has \(bits) bits; RSA keys have 2048 to 8192"
        case .value: "is not a valid key"
        case .member(let name): "has no valid '\(name)'"
        }
    }
}
