import Basics
import HTTP
import Reactor

/// Checks API keys (`api_key`) against a key file.
final class KeyCheck: CredentialCheck {
    private let search: KeySearch

    /// Far longer than a key with 256 bits in any spelling; bounds the cost of a hash.
    private static let keyBytesMax = 512

    init(_ keys: KeyTable, loop: any Loop) {
        search = KeySearch(keys, loop: loop)
    }

    var guesses: GuessRule { .counted }

    func result(of key: Bytes, _ context: RequestContext, until end: Instant) -> AuthResult {
        guard !key.isEmpty, key.count <= Self.keyBytesMax else { return .refused(.malformed) }
        return search.result(of: key)
    }
}
