/// The pieces of a streamed body, as an operator writes them: `events: 2KiB 100B*20`, one piece and
/// then twenty smaller ones.
package struct PiecesRule: Sendable, Equatable {
    /// A backend's name, or `*` for all.
    let backend: String
    /// In bytes, in order; at least one.
    let sizes: [Int]

    /// A list: `events: 2KiB 100B*20, *: 64KiB`.
    ///
    /// - Parameter backends: the valid names
    package static func list(
        _ text: String, backends: [String]
    ) throws(RuleList.SyntaxError) -> [PiecesRule] {
        let example = "events: 2KiB 100B*20"
        let entries = try RuleList.entries(text, like: example, naming: "backend", among: backends)
        var rules: [PiecesRule] = []
        for entry in entries {
            var sizes: [Int] = []
            for word in entry.words {
                guard let pieces = pieces(word), sizes.count + pieces.count <= countMax else {
                    throw RuleList.SyntaxError(
                        description:
                            "write pieces like '\(example)', of 1B to 64MiB, at most \(countMax): \(word)"
                    )
                }
                sizes += pieces
            }
            guard !sizes.isEmpty else {
                throw RuleList.SyntaxError(description: "'\(entry.name)' has no pieces")
            }
            rules.append(PiecesRule(backend: entry.name, sizes: sizes))
        }
        return rules
    }

    private static let countMax = 100_000

    /// `100B*20`, or one size.
    private static func pieces(_ word: String) -> [Int]? {
        let parts = word.split(separator: "*", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let size = RuleList.bytes(parts[0]) else { return nil }
        guard parts.count == 2 else { return [size] }
        guard let count = Int(parts[1]), (1...countMax).contains(count) else { return nil }
        return Array(repeating: size, count: count)
    }
}
