package import Basics
import COpenSSL

/// Signs tokens with Ed25519, for the issuers of simulations and tests; the gateway signs nothing.
package final class TokenSigner {
    private let raw: OpaquePointer
    private let publicPart: [UInt8]
    package let keyID: String

    /// - Parameter seed: the private key, 32 bytes
    package init?(seed: [UInt8], keyID: String) {
        guard seed.count == 32,
            let raw = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, seed, seed.count)
        else { return nil }
        var publicPart = [UInt8](repeating: 0, count: 32)
        var count = publicPart.count
        guard EVP_PKEY_get_raw_public_key(raw, &publicPart, &count) == 1 else {
            EVP_PKEY_free(raw)
            return nil
        }
        self.raw = raw
        self.publicPart = publicPart
        self.keyID = keyID
    }

    deinit { EVP_PKEY_free(raw) }

    /// The public key as a JSON Web Key.
    package var publicKey: String {
        "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"kid\":\"\(keyID)\",\"use\":\"sig\","
            + "\"x\":\"\(Base64URL.encode(publicPart))\"}"
    }

    /// A token with the usual header.
    package func token(_ payload: String) -> Bytes? {
        sign(header: "{\"alg\":\"EdDSA\",\"kid\":\"\(keyID)\"}", payload: payload)
    }

    /// A token with any header; nil if OpenSSL cannot sign, for lack of memory.
    package func sign(header: String, payload: String) -> Bytes? {
        let signed = Base64URL.encode(header.utf8) + "." + Base64URL.encode(payload.utf8)
        guard let context = EVP_MD_CTX_new() else { return nil }
        defer { EVP_MD_CTX_free(context) }
        var signature = [UInt8](repeating: 0, count: 64)
        var count = signature.count
        let message = Array(signed.utf8)
        guard EVP_DigestSignInit(context, nil, nil, nil, raw) == 1,
            EVP_DigestSign(context, &signature, &count, message, message.count) == 1
        else { return nil }
        return Bytes(signed + "." + Base64URL.encode(signature))
    }
}
