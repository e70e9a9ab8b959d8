import JOSE
import TLS

/// A new key with 256 random bits, and its entry in a key file.
package struct NewKey {
    /// The key as clients send it.
    package let text: String

    /// Lets scanners for leaked secrets recognise a key.
    private static let prefix = "trb_"

    /// - Parameter generator: a cryptographically secure source of random numbers
    package init(using generator: inout some RandomNumberGenerator) {
        var bytes: [UInt8] = []
        for _ in 0..<4 {
            let word = generator.next()
            for shift in stride(from: UInt64(0), to: 64, by: 8) {
                bytes.append(UInt8(truncatingIfNeeded: word >> shift))
            }
        }
        text = Self.prefix + Base64URL.encode(bytes)
    }

    /// The lines of the entry; refuses values that the key file would refuse.
    package func entry(
        named name: String, isBasic: Bool = false, scopes: [String] = [], expires: String? = nil,
        plan: String? = nil
    ) throws(Refusal) -> String {
        guard let hash = SHA256.hash(Array(text.utf8)).flatMap({ KeyHash($0) }) else {
            throw Refusal("cannot be hashed: OpenSSL has no SHA-256")
        }
        return try KeyFileText.entry(
            name: name, isBasic: isBasic, hash: hash, scopes: scopes, expires: expires, plan: plan)
    }
}
