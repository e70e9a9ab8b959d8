import Patterns
import YAMLReader

/// Converts KrakenD's `security/bot-detector` of the service to `user_agents`.
struct KrakenDBotDetector {
    /// Nil if nothing is denied.
    private(set) var tree: YAMLTree?

    init(_ member: DocumentNode.Member?, _ findings: inout ImportFindings) {
        guard let member else { return }
        var patterns: [String] = []
        if member.node["empty_user_agent_is_bot"]?.flag == true { patterns.append("") }
        patterns += (member.node["deny"]?.texts ?? []).map(KrakenDRegex.literal)
        for pattern in member.node["patterns"]?.elements ?? [] {
            guard let text = pattern.text else { continue }
            do throws(PatternError) {
                patterns.append(try KrakenDRegex.whole(text))
            } catch {
                findings.warning(at: pattern.location, "this pattern is left out: \(error)")
            }
        }
        for inner in member.node.members where !Self.known.contains(inner.key) {
            findings.reportLoss(of: inner, among: Self.losses)
        }
        guard !patterns.isEmpty else { return }
        tree = .located(.block([("deny", .texts(patterns))]), member.keyLocation)
    }

    private static let known: Set<String> = ["deny", "patterns", "empty_user_agent_is_bot"]

    private static let losses: [String: ImportLoss] = [
        "allow": .warning("a pattern of 'deny' has no exceptions"),
        "cache_size": .note("patterns are matched in linear time"),
    ]
}
