import Basics
import COpenSSL

/// A public key of OpenSSL, freed with its last reference.
///
/// Not Sendable: every worker has its own.
final class PublicKey {
    private let raw: OpaquePointer
    let kind: Kind

    enum Kind: Equatable {
        case rsa(bits: Int)
        case ec(EllipticCurve)
        case ed25519
    }

    /// Takes over the reference; nil if the key is of another kind.
    init?(taking raw: OpaquePointer) {
        guard let kind = Self.kind(of: raw) else {
            EVP_PKEY_free(raw)
            return nil
        }
        self.raw = raw
        self.kind = kind
    }

    /// A key as SubjectPublicKeyInfo in DER (RFC 5280 section 4.1).
    convenience init?(der: [UInt8]) {
        let raw = der.withUnsafeBufferPointer { buffer in
            var start = buffer.baseAddress
            return d2i_PUBKEY(nil, &start, buffer.count)
        }
        ERR_clear_error()
        guard let raw else { return nil }
        self.init(taking: raw)
    }

    /// A public key of Ed25519 (RFC 8032), 32 bytes.
    convenience init?(ed25519 bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        let raw = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, bytes, bytes.count)
        ERR_clear_error()
        guard let raw else { return nil }
        self.init(taking: raw)
    }

    deinit { EVP_PKEY_free(raw) }

    private static func kind(of raw: OpaquePointer) -> Kind? {
        switch EVP_PKEY_get_base_id(raw) {
        case EVP_PKEY_RSA: return .rsa(bits: Int(EVP_PKEY_get_bits(raw)))
        case EVP_PKEY_ED25519: return .ed25519
        case EVP_PKEY_EC:
            var name = [CChar](repeating: 0, count: 64)
            var length = 0
            let code = EVP_PKEY_get_group_name(raw, &name, name.count, &length)
            if code != 1 { ERR_clear_error() }
            let text = String(
                decoding: name.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self)
            return EllipticCurve.allCases.first { code == 1 && $0.name == text }.map(Kind.ec)
        default: return nil
        }
    }

    /// Whether the signature, in the form that the algorithm has in a token, is right.
    func verify(
        _ signature: [UInt8], of message: Span<UInt8>, _ algorithm: SignatureAlgorithm
    ) -> Bool {
        guard let form = algorithm.form(of: signature) else { return false }
        guard let context = EVP_MD_CTX_new() else { return false }
        defer {
            EVP_MD_CTX_free(context)
            ERR_clear_error()
        }
        var settings: OpaquePointer?
        guard EVP_DigestVerifyInit(context, &settings, algorithm.digest, nil, raw) == 1 else {
            return false
        }
        if algorithm.family == .rsaPSS {
            // RFC 7518 section 3.5: the salt is as long as the hash.
            guard EVP_PKEY_CTX_set_rsa_padding(settings, RSA_PKCS1_PSS_PADDING) == 1,
                EVP_PKEY_CTX_set_rsa_pss_saltlen(settings, RSA_PSS_SALTLEN_DIGEST) == 1
            else { return false }
        }
        return message.withUnsafeBufferPointer { message in
            EVP_DigestVerify(context, form, form.count, message.baseAddress, message.count) == 1
        }
    }
}

extension SignatureAlgorithm {
    /// The hash; nil for Ed25519, which has its own.
    var digest: OpaquePointer? {
        switch self {
        case .edDSA: nil
        default:
            switch hashSize {
            case 32: EVP_sha256()
            case 48: EVP_sha384()
            default: EVP_sha512()
            }
        }
    }

    /// The signature in the form that OpenSSL expects; nil if its length is wrong.
    ///
    /// In a token, an ECDSA signature is both numbers with a fixed length (RFC 7518 section 3.4);
    /// for OpenSSL it is a sequence in DER.
    fileprivate func form(of signature: [UInt8]) -> [UInt8]? {
        guard case .ecdsa(let curve) = family else { return signature }
        guard signature.count == 2 * curve.size else { return nil }
        let span = signature.span
        return DER.sequence(
            DER.integer(span.extracting(first: curve.size)),
            DER.integer(span.extracting(last: curve.size)))
    }
}
