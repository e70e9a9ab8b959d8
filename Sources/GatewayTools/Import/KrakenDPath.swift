/// A path of KrakenD, keys divided by dots, as ours.
enum KrakenDPath {
    /// `allow`, `deny`, `target`: keys only, also where they look like brackets or are empty.
    static func keys(_ path: String) -> String {
        path.split(separator: ".", omittingEmptySubsequences: false)
            .map { key(String($0)) }.joined(separator: ".")
    }

    /// A flatmap's path: `*` is every element, a number one of them.
    static func elements(_ steps: [String]) -> String {
        steps.reduce("") { path, step in
            if step == "*" { return path + "[]" }
            if isIndex(step) { return path + "[\(step)]" }
            return path.isEmpty ? key(step) : path + "." + key(step)
        }
    }

    static func isIndex(_ step: String) -> Bool {
        !step.isEmpty && step.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }

    /// Quoted where the key would be read as something else.
    static func key(_ key: String) -> String {
        guard key.isEmpty || key.contains(where: { ".[]\"".contains($0) }) else { return key }
        let escaped = key.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        return "\"\(escaped)\""
    }
}
