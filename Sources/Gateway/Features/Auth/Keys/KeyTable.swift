import Basics
import HTTP
import TLS

/// The keys or passwords of a key file, by the first eight bytes of their hashes: a search in
/// 100,000 keys takes 17 comparisons and allocates nothing.
///
/// The time of the search depends on the hash of what a client sent, which reveals nothing about the
/// hashes of valid keys that could be used; the rest of a hash is compared in constant time.
package struct KeyTable {
    /// In ascending order.
    private let prefixes: [UInt64]
    /// In the same order.
    private let entries: [Entry]

    package struct Entry {
        let hash: SHA256Words
        /// Seconds since 1970.
        let expires: Int64?
        package let caller: Caller
    }

    /// - Parameter authenticator: its name
    init(_ file: Config.KeyFile, authenticator: String) {
        let authenticator = Bytes(authenticator)
        let entries = file.entries.compactMap { Entry($0, authenticator) }
            .sorted { $0.hash.first < $1.hash.first }
        self.entries = entries
        prefixes = entries.map(\.hash.first)
    }

    package var count: Int { entries.count }

    /// The entry with this hash.
    ///
    /// - Parameter name: the name that the entry must have; nil for any
    func entry(with hash: SHA256Words, named name: Bytes? = nil) -> Entry? {
        var index = firstIndex(notBelow: hash.first)
        var found: Entry?
        while index < prefixes.count, prefixes[index] == hash.first {
            let entry = entries[index]
            if entry.hash.isEqual(to: hash), name.map({ $0 == entry.caller.name }) ?? true {
                found = entry
            }
            index += 1
        }
        return found
    }

    private func firstIndex(notBelow prefix: UInt64) -> Int {
        var (low, high) = (0, prefixes.count)
        while low < high {
            let middle = (low + high) / 2
            if prefixes[middle] < prefix { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension KeyTable.Entry {
    fileprivate init?(_ entry: Config.KeyEntry, _ authenticator: Bytes) {
        guard let id = entry.id?.value,
            let hash = entry.hash.flatMap({ SHA256Words($0.value.bytes) })
        else { return nil }
        self.init(
            hash: hash, expires: entry.expires?.value,
            caller: Caller(
                authenticator: authenticator, name: Bytes(id),
                scopes: entry.scopes.map { Bytes($0.value) },
                plan: entry.plan.map { Bytes($0.value) }))
    }
}
