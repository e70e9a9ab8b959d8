package import YAMLReader

extension Config {
    /// `log:`
    package struct Log: Sendable {
        package let location: SourceLocation
        package var format: Located<Format>?
        package var level: Located<Level>?
        package var access: Located<Bool>?
        /// Empty where every request gets a line.
        package var only: [Located<Condition>] = []
        /// The names of request headers.
        package var headers: [Located<String>] = []
        package var query: Located<Query>?

        package enum Format: String, Sendable, CaseIterable { case json, text, combined }
        package enum Level: String, Sendable, CaseIterable { case debug, info, warning, error }

        /// What the access log shows of a query.
        package enum Query: String, Sendable, CaseIterable { case names, values, none }

        /// Which requests get a line.
        package enum Condition: Sendable, Hashable {
            case failed
            case partial
            case rejected
            /// Longer than this.
            case slow(Duration)
            /// A random share, in millionths.
            case share(Int)
        }

        init(location: SourceLocation) {
            self.location = location
        }
    }
}

extension Config.Log.Condition {
    /// As a configuration spells it.
    package var spelled: String {
        switch self {
        case .failed: "failed"
        case .partial: "partial"
        case .rejected: "rejected"
        case .slow(let limit): "slow > \(limit.spelled)"
        case .share(let millionths): Self.percent(millionths)
        }
    }

    /// `0.25%`
    private static func percent(_ millionths: Int) -> String {
        let digits = String(1_0000 + millionths % 1_0000).dropFirst()
        let fraction = String(digits.reversed().drop { $0 == "0" }.reversed())
        return "\(millionths / 1_0000)\(fraction.isEmpty ? "" : ".\(fraction)")%"
    }
}
