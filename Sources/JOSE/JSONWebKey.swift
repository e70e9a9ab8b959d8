import Basics
import JSONText

/// Creates a key from a JSON Web Key (RFC 7517, RFC 7518 section 6, RFC 8037 section 2).
enum JSONWebKey {
    /// RSA keys with fewer bits can be factored, and with more they take milliseconds.
    static let bitsOfRSA = 2048...8192
    /// No used exponent has more bytes; long ones make verification slow.
    static let exponentSizeMax = 8

    static func key(of value: JSONSlice) throws(UnusableKey) -> VerificationKey {
        try checkObject(value)
        // A published private key is known to every reader of the set.
        guard value.member(Name.privatePart) == nil else { throw .privateKey }
        try checkUse(of: value)
        let key = try publicKey(of: value)
        return VerificationKey(
            .publicKey(key), id: try string(Name.keyID, of: value),
            algorithm: try algorithm(of: value))
    }

    /// A secret for HMAC (RFC 7518 section 6.4).
    static func secret(of value: JSONSlice) throws(UnusableKey) -> VerificationKey {
        try checkObject(value)
        guard let type = try string(Name.keyType, of: value) else { throw .member("kty") }
        guard type == Bytes("oct") else { throw .asymmetric }
        try checkUse(of: value)
        return VerificationKey(
            .secret(SharedSecret(Bytes(try bytes(Name.secret, of: value)))),
            id: try string(Name.keyID, of: value), algorithm: try algorithm(of: value))
    }

    private static func checkObject(_ value: JSONSlice) throws(UnusableKey) {
        guard value.kind == .object else { throw .notObject }
        do throws(StrictObject.Fault) {
            try StrictObject.checkNames(in: value)
        } catch {
            throw .duplicateName
        }
    }

    private static func publicKey(of value: JSONSlice) throws(UnusableKey) -> PublicKey {
        guard let type = try string(Name.keyType, of: value) else { throw .member("kty") }
        switch String(type) {
        case "RSA": return try rsa(value)
        case "EC": return try ec(value)
        case "OKP": return try okp(value)
        // Also for fetched sets: a public key must never serve as the secret of an HMAC.
        case "oct": throw .symmetric
        default: throw .keyType
        }
    }

    /// `use` and `key_ops`, where the key has them (RFC 7517 sections 4.2 and 4.3).
    private static func checkUse(of value: JSONSlice) throws(UnusableKey) {
        if let use = try string(Name.use, of: value), use != Bytes("sig") { throw .use }
        guard let operations = value.member(Name.operations) else { return }
        guard operations.kind == .array else { throw .member("key_ops") }
        let canVerify = operations.elements.contains { $0.stringText == Bytes("verify") }
        guard canVerify else { throw .operations }
    }

    private static func algorithm(of value: JSONSlice) throws(UnusableKey) -> SignatureAlgorithm? {
        guard let name = try string(Name.algorithm, of: value) else { return nil }
        guard let algorithm = SignatureAlgorithm(rawValue: String(name)) else { throw .algorithm }
        return algorithm
    }

    // MARK: Kinds

    private static func rsa(_ value: JSONSlice) throws(UnusableKey) -> PublicKey {
        let modulus = try bytes(Name.modulus, of: value)
        let exponent = try bytes(Name.exponent, of: value)
        let isOdd = modulus.last.map { $0 & 1 == 1 } ?? false
        let digits = exponent.drop { $0 == 0 }
        guard let last = digits.last, last & 1 == 1, digits.count > 1 || last > 1,
            digits.count <= exponentSizeMax, isOdd
        else { throw .value }
        let key = DER.sequence(DER.integer(modulus.span), DER.integer(exponent.span))
        let identifier = DER.sequence(
            [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01], [0x05, 0x00])
        return try checkedSize(
            PublicKey(der: DER.sequence(identifier, DER.bitString(key))))
    }

    /// An RSA key of a size that is accepted, or a key of another kind.
    static func checkedSize(_ key: PublicKey?) throws(UnusableKey) -> PublicKey {
        guard let key else { throw .value }
        if case .rsa(let bits) = key.kind, !bitsOfRSA.contains(bits) { throw .size(bits) }
        return key
    }

    private static func ec(_ value: JSONSlice) throws(UnusableKey) -> PublicKey {
        guard let name = try string(Name.curve, of: value) else { throw .member("crv") }
        guard let curve = EllipticCurve(rawValue: String(name)) else { throw .curve }
        let x = try bytes(Name.x, of: value)
        let y = try bytes(Name.y, of: value)
        // RFC 7518 section 6.2.1.2: with their leading zeros.
        guard x.count == curve.size, y.count == curve.size else { throw .value }
        let identifier = DER.sequence(
            [0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01], curve.identifier)
        // OpenSSL rejects a point that is not on the curve.
        let key = PublicKey(der: DER.sequence(identifier, DER.bitString([0x04] + x + y)))
        guard let key else { throw .value }
        return key
    }

    private static func okp(_ value: JSONSlice) throws(UnusableKey) -> PublicKey {
        guard try string(Name.curve, of: value) == Bytes("Ed25519") else { throw .curve }
        guard let key = PublicKey(ed25519: try bytes(Name.x, of: value)) else { throw .value }
        return key
    }

    // MARK: Members

    private static func string(_ name: Bytes, of value: JSONSlice) throws(UnusableKey) -> Bytes? {
        guard let member = value.member(name) else { return nil }
        guard let text = member.stringText else { throw .member(String(name)) }
        return text
    }

    private static func bytes(_ name: Bytes, of value: JSONSlice) throws(UnusableKey) -> [UInt8] {
        guard let text = try string(name, of: value), let bytes = Base64URL.decode(text.span)
        else { throw .member(String(name)) }
        return bytes
    }
}
