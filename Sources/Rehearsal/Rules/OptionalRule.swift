/// How often clients of a rehearsal send an optional parameter, as an operator writes it:
/// `lang: 90%`.
package struct OptionalRule: Sendable, Equatable {
    /// A parameter's name, or `*` for all.
    let parameter: String
    /// 0 to 1.
    let share: Double

    /// Where no rule applies, every second request has the parameter.
    static let usual = 0.5

    /// A list: `lang: 90%, *: 10%`.
    ///
    /// - Parameter parameters: the names of the optional parameters
    package static func list(
        _ text: String, parameters: [String]
    ) throws(RuleList.SyntaxError) -> [OptionalRule] {
        let entries = try RuleList.entries(
            text, like: "lang: 90%", naming: "optional parameter", among: parameters)
        var rules: [OptionalRule] = []
        for entry in entries {
            let words = entry.words.joined(separator: " ")
            guard let share = RuleList.share(words) else {
                throw RuleList.SyntaxError(description: "write a share like 'lang: 90%': \(words)")
            }
            rules.append(OptionalRule(parameter: entry.name, share: share))
        }
        return rules
    }
}

extension [OptionalRule] {
    /// The share of requests with a parameter: its own rule takes precedence over `*`, the last of
    /// several wins.
    func share(of parameter: String) -> Double {
        (last { $0.parameter == parameter } ?? last { $0.parameter == "*" })?.share
            ?? OptionalRule.usual
    }
}
