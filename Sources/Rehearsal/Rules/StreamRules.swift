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
