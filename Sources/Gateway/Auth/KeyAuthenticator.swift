import Basics
import HTTP
import Reactor
import TLS

/// Checks the keys of `api_key` and the passwords of `basic` against a key file.
final class KeyAuthenticator {
    private let keys: KeyTable
    private let loop: any Loop
    private let hasher = SHA256Hasher()

    /// Far longer than a key with 256 bits in any spelling; bounds the cost of a hash.
    private static let keyBytesMax = 512
    /// The user name and the password in Base64.
    private static let passwordBytesMax = 1024

    init(_ keys: KeyTable, loop: any Loop) {
        self.keys = keys
        self.loop = loop
    }

    func checkKey(_ key: Bytes) -> AuthResult {
        guard !key.isEmpty, key.count <= Self.keyBytesMax else { return .refused(.malformed) }
        return check(key, of: nil)
    }

    /// The user name ends at the first colon (RFC 7617, section 2).
    func checkPassword(_ credential: Bytes) -> AuthResult {
        guard credential.count <= Self.passwordBytesMax,
            let text = Base64.bytes(credential).map({ Bytes($0) }),
            let colon = text.span.indices.first(where: { text[$0] == UInt8(ascii: ":") }),
            colon > 0, colon + 1 < text.count
        else { return .refused(.malformed) }
        return check(text[(colon + 1)..<text.count], of: text[0..<colon])
    }

    private func check(_ secret: Bytes, of user: Bytes?) -> AuthResult {
        // Without a hash the gateway cannot decide; a request never passes for that reason.
        guard let hash = hasher.words(of: secret) else { return .refused(.keysUnavailable) }
        guard let entry = keys.entry(with: hash, named: user) else { return .refused(.untrusted) }
        if let expires = entry.expires, loop.unixTime / 1_000_000_000 >= expires {
            return .refused(.expired)
        }
        return .accepted(entry.caller)
    }
}
