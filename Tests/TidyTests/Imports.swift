/// Finds the modules that a line of code imports, at every access level and in every form.
enum Imports {
    /// `@preconcurrency package import struct Basics.Bytes` imports `Basics`.
    ///
    /// Only attributes and access levels may precede the word `import`; any other line with the
    /// word is not an import.
    static func modules(in line: String) -> [String] {
        line.split(separator: ";").compactMap { statement in
            let code =
                statement.firstRange(of: "//").map { statement[..<$0.lowerBound] } ?? statement
            var words = code.split(whereSeparator: \.isWhitespace)[...]
            while let word = words.first, word.hasPrefix("@") || levels.contains(String(word)) {
                words.removeFirst()
            }
            guard words.popFirst() == "import" else { return nil }
            if let kind = words.first, kinds.contains(String(kind)) { words.removeFirst() }
            return words.first.map { String($0.prefix { $0 != "." }) }
        }
    }

    private static let levels: Set = [
        "public", "package", "internal", "fileprivate", "private", "open",
    ]

    private static let kinds: Set = [
        "typealias", "struct", "class", "enum", "protocol", "let", "var", "func", "actor", "macro",
    ]
}
