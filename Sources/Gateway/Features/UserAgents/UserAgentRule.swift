import Basics
package import HTTP
package import Patterns

/// `user_agents`: which clients are refused by the `User-Agent` that they state.
///
/// A pattern caches states, so the rule is confined to its worker.
package final class UserAgentRule {
    private let denied: [Pattern]
    /// `deny 2 patterns`
    package let text: String

    /// Nil without patterns.
    package init?(_ rule: Config.UserAgents?) throws(PatternError) {
        guard let rule, !rule.deny.isEmpty else { return nil }
        var denied: [Pattern] = []
        for pattern in rule.deny { denied.append(try Pattern(pattern.value)) }
        self.denied = denied
        text = "deny \(denied.count) \(denied.count == 1 ? "pattern" : "patterns")"
    }

    /// Whether no pattern matches. A request without the header counts as one with an empty value.
    ///
    /// A value that is too long to be matched is refused: otherwise padding would evade the patterns.
    package func accepts(_ head: RequestHead) -> Bool {
        let agent = head.fields[.userAgent]?.bytes ?? Bytes()
        var work = PatternWork()
        for pattern in denied {
            guard work.take(instructions: pattern.size, bytes: agent.count),
                !pattern.matches(agent.span)
            else { return false }
        }
        return true
    }
}
