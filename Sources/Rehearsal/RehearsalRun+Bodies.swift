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
