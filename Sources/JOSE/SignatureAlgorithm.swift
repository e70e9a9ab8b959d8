/// A signature algorithm of JSON Web Signature (RFC 7518 section 3.1, RFC 8037 section 3.1).
///
/// `none` is not one of them.
package enum SignatureAlgorithm: String, CaseIterable, Sendable {
    case rs256 = "RS256"
    case rs384 = "RS384"
    case rs512 = "RS512"
    case ps256 = "PS256"
    case ps384 = "PS384"
    case ps512 = "PS512"
    case es256 = "ES256"
    case es384 = "ES384"
    case es512 = "ES512"
    case edDSA = "EdDSA"
    case hs256 = "HS256"
    case hs384 = "HS384"
    case hs512 = "HS512"

    /// What a key must be to fit.
    enum Family: Equatable {
        case rsa
        case rsaPSS
        case ecdsa(EllipticCurve)
        case edDSA
        case hmac
    }

    var family: Family {
        switch self {
        case .rs256, .rs384, .rs512: .rsa
        case .ps256, .ps384, .ps512: .rsaPSS
        case .es256: .ecdsa(.p256)
        case .es384: .ecdsa(.p384)
        case .es512: .ecdsa(.p521)
        case .edDSA: .edDSA
        case .hs256, .hs384, .hs512: .hmac
        }
    }

    /// Whether signer and verifier share one secret.
    package var isSymmetric: Bool { family == .hmac }

    /// Whether one verification takes several hundred microseconds of the worker.
    package var isSlow: Bool { self == .es384 || self == .es512 }

    /// The length of its hash in bytes, which is also the least length of an HMAC secret (RFC 7518
    /// section 3.2).
    package var hashSize: Int {
        switch self {
        case .rs256, .ps256, .es256, .hs256: 32
        case .rs384, .ps384, .es384, .hs384: 48
        case .rs512, .ps512, .es512, .hs512, .edDSA: 64
        }
    }
}

/// The curves of ECDSA keys (RFC 7518 section 6.2.1.1).
package enum EllipticCurve: String, CaseIterable, Sendable {
    case p256 = "P-256"
    case p384 = "P-384"
    case p521 = "P-521"

    /// The length of a coordinate, and of each half of a signature, in bytes.
    var size: Int {
        switch self {
        case .p256: 32
        case .p384: 48
        case .p521: 66
        }
    }

    /// The object identifier in DER (RFC 5480 section 2.1.1.1).
    var identifier: [UInt8] {
        switch self {
        case .p256: [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
        case .p384: [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x22]
        case .p521: [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x23]
        }
    }

    /// OpenSSL's name of the curve.
    var name: String {
        switch self {
        case .p256: "prime256v1"
        case .p384: "secp384r1"
        case .p521: "secp521r1"
        }
    }
}
