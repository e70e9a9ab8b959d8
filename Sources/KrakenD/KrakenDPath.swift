/// Converts KrakenD paths, whose keys are separated by dots.
enum KrakenDPath {
    /// A path in `allow`, `deny` or `target`: keys only, even if they contain brackets or are
    /// empty.
    static func keys(_ path: String) -> String {
        path.split(separator: ".", omittingEmptySubsequences: false)
            .map { key(String($0)) }.joined(separator: ".")
    }

    /// A path in a flatmap filter: `*` selects every element, a number one of them.
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

    /// The key, quoted if it would be parsed differently otherwise.
    static func key(_ key: String) -> String {
        guard key.isEmpty || key.contains(where: { ".[]\"".contains($0) }) else { return key }
        let escaped = key.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        return "\"\(escaped)\""
    }
}
