/// The response time of a simulated backend, as an operator writes it: `reviews: 40ms-900ms`.
package struct LatencyRule: Sendable, Equatable {
    /// A backend's name, or `*` for all.
    let backend: String
    /// In milliseconds, uniformly distributed.
    let range: ClosedRange<Int>

    /// A list: `reviews: 40ms-900ms, *: 5ms`.
    ///
    /// - Parameter backends: the valid names
    package static func list(
        _ text: String, backends: [String]
    ) throws(RuleList.SyntaxError) -> [LatencyRule] {
        let example = "reviews: 40ms-900ms"
        let entries = try RuleList.entries(text, like: example, naming: "backend", among: backends)
        var rules: [LatencyRule] = []
        for entry in entries {
            let words = entry.words.joined()
            guard let range = range(words) else {
                throw RuleList.SyntaxError(
                    description: "write a latency like '\(example)' or 'reviews: 5ms': \(words)")
            }
            rules.append(LatencyRule(backend: entry.name, range: range))
        }
        return rules
    }

    private static func range(_ text: String) -> ClosedRange<Int>? {
        let ends = text.split(separator: "-", omittingEmptySubsequences: false)
        guard (1...2).contains(ends.count), let least = RuleList.milliseconds(ends[0]),
            let most = RuleList.milliseconds(ends[ends.count - 1]), least <= most
        else { return nil }
        return least...most
    }
}

extension [LatencyRule] {
    /// The range for a backend: its own rule takes precedence over `*`, the last of several wins.
    func range(for backend: String) -> ClosedRange<Int>? {
        (last { $0.backend == backend } ?? last { $0.backend == "*" })?.range
    }
}
