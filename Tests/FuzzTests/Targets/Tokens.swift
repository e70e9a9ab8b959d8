import Basics
import JSONText

@testable import JOSE

extension FuzzTarget {
    /// A token. One that is read has parts of the right form, and no input is accepted, because no
    /// corpus contains the key.
    static let token = FuzzTarget(
        name: "token",
        tokens: [
            ".", "..", "eyJhbGciOiJFZERTQSJ9", "eyJhbGciOiJIUzI1NiJ9", "e30", "AAAA", "=", "-", "_",
            "eyJhbGciOiJub25lIn0", "AA", "ey", "J9", "In0",
        ]
    ) { input in
        do throws(TokenFault) {
            let token = try CompactJWS(Bytes(input))
            guard token.header.text.kind == .object else { return "the header is not an object" }
            guard input.count(where: { $0 == UInt8(ascii: ".") }) == 2 else {
                return "not three parts"
            }
            _ = try rules.verify(token, with: keys(), now: 0)
            return "a token is accepted"
        } catch {
            return error.description.isEmpty ? "no reason" : nil
        }
    }

    /// A JWK Set or PEM: keys and unusable keys are all that it contains.
    static let keySet = FuzzTarget(
        name: "key-set",
        tokens: [
            "{\"keys\":[", "]}", "{\"kty\":\"RSA\",", "\"kty\":\"EC\",", "\"kty\":\"OKP\",",
            "\"crv\":\"P-256\",", "\"crv\":\"Ed25519\",", "\"n\":\"", "\"e\":\"AQAB\"", "\"x\":\"",
            "\"y\":\"", "\"use\":\"sig\"", "\"key_ops\":[\"verify\"]", "\"alg\":\"RS256\"", "AAAA",
            "-----BEGIN PUBLIC KEY-----\n", "-----END PUBLIC KEY-----\n",
        ]
    ) { input in
        guard let set = try? KeySet(file: Bytes(input)) else { return nil }
        guard set.keys.count + set.unusable.count <= KeySet.countMax else { return "too many keys" }
        for key in set.keys {
            let fitting = SignatureAlgorithm.allCases.filter { key.fits($0) }
            guard !fitting.contains(where: \.isSymmetric) else { return "a public key is a secret" }
            if key.kind == "RSA 1024" { return "a key is too small" }
        }
        return nil
    }

    private static let rules = TokenRules(
        issuers: [Bytes("a")], audiences: nil, algorithms: SignatureAlgorithm.allCases, leeway: 0)

    /// A secret that fits every algorithm of HMAC, made for each input since keys are confined to
    /// their thread.
    private static func keys() -> KeySet {
        KeySet(secret: Bytes([UInt8](repeating: 1, count: 64)))
    }
}
