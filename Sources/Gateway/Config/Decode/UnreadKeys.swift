import YAMLReader

/// The keys whose values could not be read, each with the location of its block.
///
/// The decoder reports such a value. A check must not report that it is missing too: with a
/// misspelt `backends`, every call would name an unknown backend.
struct UnreadKeys {
    private struct Key: Hashable {
        let name: String
        let block: SourceLocation
    }

    private var keys: Set<Key> = []

    mutating func insert(_ name: String, of block: SourceLocation) {
        keys.insert(Key(name: name, block: block))
    }

    /// Whether a value was written for the key and could not be read.
    func contains(_ name: String, of block: SourceLocation) -> Bool {
        keys.contains(Key(name: name, block: block))
    }
}
