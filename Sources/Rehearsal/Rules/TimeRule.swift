/// A time at a simulated backend, as an operator writes it: `reviews: 40ms-900ms`. The latency of its
/// responses, or the time between two pieces of a body.
package struct TimeRule: Sendable, Equatable {
    /// A backend's name, or `*` for all.
    let backend: String
    /// In milliseconds, uniformly distributed.
    let range: ClosedRange<Int>

    /// A list: `reviews: 40ms-900ms, *: 5ms`.
    ///
    /// - Parameters:
    ///   - kind: what the time is, for messages
    ///   - backends: the valid names
    package static func list(
        _ text: String, of kind: String, backends: [String]
    ) throws(RuleList.SyntaxError) -> [TimeRule] {
        let example = "reviews: 40ms-900ms"
        let entries = try RuleList.entries(text, like: example, naming: "backend", among: backends)
        var rules: [TimeRule] = []
        for entry in entries {
            let words = entry.words.joined()
            guard let range = range(words) else {
                throw RuleList.SyntaxError(
                    description: "write a \(kind) like '\(example)' or 'reviews: 5ms': \(words)")
            }
            rules.append(TimeRule(backend: entry.name, range: range))
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

extension [TimeRule] {
    /// The range for a backend: its own rule takes precedence over `*`, the last of several wins.
    func range(for backend: String) -> ClosedRange<Int>? {
        (last { $0.backend == backend } ?? last { $0.backend == "*" })?.range
    }
}
