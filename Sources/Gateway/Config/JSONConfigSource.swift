import YAMLReader

/// Reads a JSON configuration into the tree that YAML gives, so that one decoder serves both.
enum JSONConfigSource {
    static func read(_ bytes: [UInt8], file: String) throws(DocumentProblem) -> DocumentNode {
        try YAMLReader.read(bytes, file: file)
    }
}
