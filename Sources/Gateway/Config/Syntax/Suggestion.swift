/// Finds the known name that an unknown one probably means.
package enum Suggestion {
    /// ` - did you mean 'timeout'?`, or empty if no known name is similar.
    package static func hint(for written: String, among known: [String]) -> String {
        nearest(to: written, among: known).map { " - did you mean '\($0)'?" } ?? ""
    }

    /// The known name with the smallest edit distance, if that is small for its length.
    package static func nearest(to written: String, among known: [String]) -> String? {
        // Longer texts are not misspelt names, and comparing them would take time.
        guard written.utf8.count <= 64 else { return nil }
        let plain = simplified(written)
        let ranked = known.map { name in
            (name, distance(from: plain, to: simplified(name)))
        }
        guard let best = ranked.min(by: { $0.1 < $1.1 }) else { return nil }
        let limit = min(max(1, min(3, best.0.count / 3)), plain.count - 1)
        return best.1 <= limit ? best.0 : nil
    }

    /// `maxBody`, `max-body` and `MAX_BODY` all mean `max_body`.
    private static func simplified(_ name: String) -> [Character] {
        name.lowercased().filter { $0 != "_" && $0 != "-" }
    }

    /// A prefix of a name, `warn` for `warning`, counts as one edit.
    private static func distance(from source: [Character], to target: [Character]) -> Int {
        source.count >= 3 && target.starts(with: source) && target.count > source.count
            ? 1 : edits(from: source, to: target)
    }

    /// Insertions, deletions, replacements and swaps of neighbours (optimal string alignment).
    private static func edits(from source: [Character], to target: [Character]) -> Int {
        var twoBack: [Int] = []
        var previous = Array(0...target.count)
        for (row, letter) in source.enumerated() {
            var current = [row + 1]
            for (column, other) in target.enumerated() {
                var cost = min(
                    previous[column + 1] + 1, current[column] + 1,
                    previous[column] + (letter == other ? 0 : 1))
                if row > 0, column > 0, letter == target[column - 1], source[row - 1] == other {
                    cost = min(cost, twoBack[column - 1] + 1)
                }
                current.append(cost)
            }
            twoBack = previous
            previous = current
        }
        return previous[target.count]
    }
}
