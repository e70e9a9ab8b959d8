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

/// The streamed bodies in one direction: their pieces, and the time between two of them.
package struct StreamRules: Sendable, Equatable {
    package var pieces: [PiecesRule] = []
    package var rhythm: [TimeRule] = []

    package init() {}

    /// Without a rule for the pieces.
    private static let usualSizes = Array(repeating: 1024, count: 10)

    /// Nil if no rule applies to the backend; `*` counts where it has none of its own, and the last
    /// of several wins.
    func sizes(for backend: String) -> [Int]? {
        let rule =
            pieces.last { $0.backend == backend } ?? pieces.last { $0.backend == "*" }
        return rule?.sizes ?? rhythm.range(for: backend).map { _ in Self.usualSizes }
    }

    /// A body with the times of its pieces; nil if no rule applies to the backend.
    func body(for backend: String, _ random: RandomSource) -> StreamedBody? {
        guard let sizes = sizes(for: backend) else { return nil }
        let range = rhythm.range(for: backend) ?? 0...0
        return StreamedBody(
            sizes: sizes, pauses: sizes.dropFirst().map { _ in random.number(range) })
    }
}

extension RehearsalRun.Settings {
    /// Throws if the bodies of all requests together need too much memory or time: a run keeps them.
    package func checkBodies() throws(RuleList.SyntaxError) {
        let rules = downloads.pieces + uploads.pieces
        let largest = rules.map { $0.sizes.reduce(0, +) }.max() ?? 0
        let longest = rules.map(\.sizes.count).max() ?? 0
        guard largest <= Self.bytesMax / max(1, requests),
            longest <= Self.piecesMax / max(1, requests)
        else {
            throw RuleList.SyntaxError(
                description: "the bodies of all requests are larger than 256 MiB, or have more than"
                    + " 1000000 pieces; simulate fewer --requests")
        }
    }

    private static let bytesMax = 256 << 20
    private static let piecesMax = 1_000_000
}
