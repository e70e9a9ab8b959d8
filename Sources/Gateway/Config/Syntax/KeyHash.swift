/// The SHA-256 hash of a key, as a key file spells it: `sha256:` and 64 hexadecimal digits.
package struct KeyHash: Sendable, Hashable {
    /// 32 bytes.
    package let bytes: [UInt8]

    private static let prefix = "sha256:"
    private static let byteCount = 32

    /// - Parameter bytes: 32 bytes
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    /// `sha256:9f86d0...`
    package var text: String {
        let digits = Array("0123456789abcdef")
        return Self.prefix
            + String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }

    /// No refusal quotes the text, which may be a key.
    package init(parsing text: String) throws(Refusal) {
        guard text.hasPrefix(Self.prefix) else { throw Self.refusal(ofUnprefixed: text) }
        guard let bytes = Self.bytes(ofHex: text.dropFirst(Self.prefix.count)) else {
            throw Refusal("must be sha256: and 64 hexadecimal digits")
        }
        guard bytes != Self.hashOfNothing else {
            throw Refusal("must not be the hash of an empty text")
        }
        self.bytes = bytes
    }

    private static func refusal(ofUnprefixed text: String) -> Refusal {
        if bytes(ofHex: text[...]) != nil {
            return Refusal("must begin with 'sha256:', the name of the hash function")
        }
        if let other = otherHash(text) {
            return Refusal(
                """
                must be sha256: and 64 hexadecimal digits; the hash function \(fixed: other) is not \
                supported
                """)
        }
        guard let slow = slowHash(text) else {
            return Refusal(
                "must be sha256: and 64 hexadecimal digits; this looks like a plain-text key, and a"
                    + " key file has hashes only (see: tributary key new)")
        }
        return Refusal(
            """
            must be sha256: and 64 hexadecimal digits, not a hash by \(fixed: slow): computing it \
            takes milliseconds, during which the worker handles no other request. Generate a random key \
            (tributary key new); passwords that people choose belong to an identity provider
            """)
    }

    /// The name of a hash function for passwords that people choose.
    private static func slowHash(_ text: String) -> String? {
        let lowercased = text.lowercased()
        let families = [
            ("bcrypt", ["$2a$", "$2b$", "$2x$", "$2y$", "bcrypt"]),
            ("scrypt", ["$scrypt$", "$7$", "scrypt"]),
            ("argon2", ["$argon2", "argon2"]),
            ("pbkdf2", ["$pbkdf2", "pbkdf2"]),
            ("crypt", ["$1$", "$5$", "$6$", "$y$", "$apr1$", "{ssha", "{sha"]),
        ]
        return families.first { $0.1.contains { lowercased.hasPrefix($0) } }?.0
    }

    /// The name of another fast hash function. Only known names, since the text may be a key.
    private static func otherHash(_ text: String) -> String? {
        let names = [
            "md5", "sha1", "sha-1", "sha224", "sha384", "sha512", "sha3", "blake2b", "blake3",
        ]
        let lowercased = text.lowercased()
        return names.first { lowercased.hasPrefix($0 + ":") }
    }

    private static func bytes(ofHex text: Substring) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count == 2 * byteCount else { return nil }
        var bytes: [UInt8] = []
        for index in 0..<byteCount {
            guard let high = hexDigit(digits[2 * index]), let low = hexDigit(digits[2 * index + 1])
            else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    private static func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// SHA-256 of no bytes: the hash of a key that a script failed to generate.
    private static let hashOfNothing: [UInt8] = [
        0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14, 0x9a, 0xfb, 0xf4, 0xc8, 0x99, 0x6f, 0xb9,
        0x24, 0x27, 0xae, 0x41, 0xe4, 0x64, 0x9b, 0x93, 0x4c, 0xa4, 0x95, 0x99, 0x1b, 0x78, 0x52,
        0xb8, 0x55,
    ]
}
