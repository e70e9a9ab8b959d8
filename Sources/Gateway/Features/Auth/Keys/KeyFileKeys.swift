package import YAMLReader

extension Config {
    /// The file of `keys:`, which has the hashes of keys or passwords.
    package struct KeyFile: Sendable {
        /// The name of the file as messages may quote it.
        package let title: String
        /// Those that could be read.
        package let entries: [KeyEntry]
        /// Whether the file has no entries.
        package let isEmpty: Bool
    }

    /// An entry of a key file. Several entries may have the same id: while a client changes its key,
    /// the old and the new one are valid.
    package struct KeyEntry: Sendable {
        package let location: SourceLocation
        /// `id`, or `user`.
        package var id: Located<String>?
        package var hash: Located<KeyHash>?
        package var scopes: [Located<String>] = []
        /// Seconds since 1970.
        package var expires: Located<Int64>?
        package var plan: Located<String>?
    }
}

/// The keys of an entry in a key file.
protocol KeyFileEntry: PlainBlock {
    var entry: Config.KeyEntry { get set }
    /// The noun for it in messages.
    static var noun: String { get }
    /// The key that has its name.
    static var nameKey: String { get }
}

extension KeyFileEntry {
    static var entryKeys: [BlockKey<Self>] {
        [
            .value(
                "hash", \.entry.hash, .keyHash, isRequired: true,
                "sha256: and the SHA-256 hash in hexadecimal digits"),
            .list("scopes", \.entry.scopes, .list(of: .scope), "scopes of the caller"),
            .value(
                "expires", \.entry.expires, .unixTime,
                "time from which it is refused, in quotes: \"2026-12-31T00:00:00Z\""),
            .value("plan", \.entry.plan, .text, "plan of the caller, for rate limits"),
        ]
    }
}

extension ValueReader where Value == KeyHash {
    static var keyHash: ValueReader {
        .scalar(.text(format: .secret), expected: "must be sha256: and 64 hexadecimal digits") {
            scalar throws(Refusal) in
            try KeyHash(parsing: scalar.text)
        }
    }
}

extension ValueReader where Value == Int64 {
    static var unixTime: ValueReader {
        .scalar(.text(format: .text), expected: TimeText.message) { scalar throws(Refusal) in
            try TimeText.unixTime(scalar.text)
        }
    }
}

/// Files of keys and passwords. No message quotes a value, because it may be a secret that was put
/// into the wrong place.
extension ValueReader where Value == Config.KeyFile {
    static func keyFile<Entry: KeyFileEntry>(of entry: Entry.Type) -> ValueReader {
        let name = ValueReader<String>.text(.file) { text throws(Refusal) in
            if text.isEmpty { throw Refusal("must not be empty") }
        }
        return ValueReader(schema: name.schema) { node, decoder in
            name.read(node, &decoder).flatMap {
                decoder.keyFile(Located($0, of: node), of: entry)
            }
        }
    }
}

extension ConfigDecoder {
    fileprivate mutating func keyFile<Entry: KeyFileEntry>(
        _ name: Located<String>, of type: Entry.Type
    ) -> Config.KeyFile? {
        let title = FilePath.resolve(name.quoted, relativeTo: name.location.file)
        let path = FilePath.resolve(name.value, relativeTo: name.location.file)
        problems.hideLines(of: title)
        let root: DocumentNode
        do {
            root = try YAMLDocument.read(try expansion.files.read(path), file: title)
        } catch let error as ConfigFileError {
            fail(name.location, "cannot be read: \(error.message): '\(title)'")
            return nil
        } catch let error as DocumentProblem {
            fail(name.location, "must name a list of \(Entry.noun)s; '\(title)' cannot be read")
            problems.error(at: error.location, error.text)
            return nil
        } catch {
            fail(name.location, "cannot be read: '\(title)'")
            return nil
        }
        warnIfWorldWritable(path, title: title)
        guard case .sequence(let nodes) = root.content else {
            fail(name.location, "must name a file with a list of \(Entry.noun)s, each with '- '")
            return nil
        }
        return Config.KeyFile(
            title: title, entries: nodes.compactMap { keyEntry($0, of: type) },
            isEmpty: nodes.isEmpty)
    }

    private mutating func keyEntry<Entry: KeyFileEntry>(
        _ node: DocumentNode, of type: Entry.Type
    ) -> Config.KeyEntry? {
        guard case .mapping(let members) = node.content else {
            problems.error(
                at: node.location,
                "an entry must be a mapping with '\(Entry.nameKey)' and 'hash'; a key file has no"
                    + " plain-text keys")
            return nil
        }
        if let plain = members.first(where: { Self.plainTextKeys.contains($0.key.lowercased()) }) {
            problems.error(
                at: plain.keyLocation,
                "'\(plain.key)': a key file has no plain-text keys, only the 'hash' of each (see:"
                    + " tributary key new)")
            return nil
        }
        var entry = Entry(location: node.location)
        decode(node, into: &entry, scope: Self.title(of: node, nameKey: Entry.nameKey, Entry.noun))
        return entry.entry
    }

    /// Members under which a key itself could be written.
    private static let plainTextKeys: Set<String> = [
        "key", "secret", "password", "token", "api_key", "apikey", "value",
    ]

    /// `key 'partner-a'`
    private static func title(of node: DocumentNode, nameKey: String, _ noun: String) -> String {
        guard case .mapping(let members) = node.content,
            let name = members.first(where: { $0.key == nameKey }),
            case .scalar(let scalar) = name.node.content
        else { return "a \(noun)" }
        return "\(noun) '\(scalar.text)'"
    }
}
