import HTTP
import TLS

/// The tokens that were verified before, by their SHA-256: a token that is sent with many requests
/// is verified once.
///
/// Two generations of half the size instead of a list by time of use: when the younger one is full,
/// it becomes the older one, and the tokens that were not used meanwhile are forgotten.
final class VerifiedTokens {
    struct Entry {
        let caller: Caller
        /// `exp` of the token.
        let expires: Int64
    }

    private let sizeMax: Int
    private var younger: [SHA256Words: Entry] = [:]
    private var older: [SHA256Words: Entry] = [:]

    /// - Parameter sizeMax: how many tokens are remembered at most
    init(sizeMax: Int) {
        self.sizeMax = sizeMax
    }

    var count: Int { younger.count + older.count }

    subscript(hash: SHA256Words) -> Entry? {
        if let entry = younger[hash] { return entry }
        guard let entry = older.removeValue(forKey: hash) else { return nil }
        insert(entry, hash)
        return entry
    }

    func insert(_ entry: Entry, _ hash: SHA256Words) {
        guard sizeMax > 0 else { return }
        if younger.count >= max(1, sizeMax / 2) {
            older = sizeMax > 1 ? younger : [:]
            younger = [:]
        }
        younger[hash] = entry
    }

    func remove(_ hash: SHA256Words) {
        younger[hash] = nil
        older[hash] = nil
    }

    func removeAll() {
        younger = [:]
        older = [:]
    }
}
