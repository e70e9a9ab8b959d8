import YAMLReader

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
