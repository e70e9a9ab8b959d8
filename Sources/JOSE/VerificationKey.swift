package import Basics

/// A key that verifies signatures.
///
/// Not Sendable: it belongs to the worker that created it.
package final class VerificationKey {
    /// `kid`; nil for keys without one, which fit every `kid`.
    package let id: Bytes?
    /// The only algorithm that the key may be used with, if it names one.
    let algorithm: SignatureAlgorithm?
    private let material: Material

    enum Material {
        case publicKey(PublicKey)
        case secret(SharedSecret)
    }

    init(_ material: Material, id: Bytes? = nil, algorithm: SignatureAlgorithm? = nil) {
        self.material = material
        self.id = id
        self.algorithm = algorithm
    }

    /// The kind of key, such as `RSA 2048` or `EC P-256`.
    package var kind: String {
        switch material {
        case .publicKey(let key):
            switch key.kind {
            case .rsa(let bits): "RSA \(bits)"
            case .ec(let curve): "EC \(curve.rawValue)"
            case .ed25519: "OKP Ed25519"
            }
        case .secret(let secret): "secret of \(secret.count) bytes"
        }
    }

    /// Whether the algorithm can be used with this key.
    ///
    /// The algorithm of a token decides nothing alone: with a public RSA key as an HMAC secret,
    /// any client that knows the public key could sign (RFC 8725 section 2.1).
    package func fits(_ algorithm: SignatureAlgorithm) -> Bool {
        if let own = self.algorithm, own != algorithm { return false }
        switch (material, algorithm.family) {
        case (.publicKey(let key), .rsa), (.publicKey(let key), .rsaPSS):
            guard case .rsa = key.kind else { return false }
            return true
        case (.publicKey(let key), .ecdsa(let curve)): return key.kind == .ec(curve)
        case (.publicKey(let key), .edDSA): return key.kind == .ed25519
        case (.secret(let secret), .hmac): return secret.count >= algorithm.hashSize
        case (.secret, _), (.publicKey, .hmac): return false
        }
    }

    /// Whether the signature of the token is right. The caller has checked that the key fits.
    func verify(_ token: CompactJWS, _ algorithm: SignatureAlgorithm) -> Bool {
        let message = token.signed.span
        return switch material {
        case .publicKey(let key): key.verify(token.signature, of: message, algorithm)
        case .secret(let secret): secret.verify(token.signature, of: message, algorithm)
        }
    }
}
