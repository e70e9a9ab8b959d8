import Basics
import HTTP
import Reactor
import TLS

/// Finds a secret of a client, a key or a password, in a key file.
struct KeySearch {
    private let keys: KeyTable
    private let loop: any Loop
    private let hasher = SHA256Hasher()

    init(_ keys: KeyTable, loop: any Loop) {
        self.keys = keys
        self.loop = loop
    }

    /// - Parameter name: the name that the entry must have; nil for any
    func result(of secret: Bytes, named name: Bytes? = nil) -> AuthResult {
        // Without a hash the gateway cannot decide; a request never passes for that reason.
        guard let hash = hasher.words(of: secret) else { return .refused(.keysUnavailable) }
        guard let entry = keys.entry(with: hash, named: name) else { return .refused(.untrusted) }
        if let expires = entry.expires, loop.unixTime / 1_000_000_000 >= expires {
            return .refused(.expired)
        }
        return .accepted(entry.caller)
    }
}
