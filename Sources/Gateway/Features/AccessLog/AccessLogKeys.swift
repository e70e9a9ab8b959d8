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

enum AccessLogKeys {
    static let root: [BlockKey<Config>] = [
        .block("log", \.log, "format and content of the log")
    ]
}

extension Config.Log: PlainBlock {
    static let keys: [BlockKey<Config.Log>] = [
        .value(
            "format", \.format, .choice, default: .choice(PlanDefaults.logFormat),
            "format of log lines; combined is the access log format of web servers"),
        .value(
            "level", \.level, .choice, default: .choice(PlanDefaults.logLevel),
            "lowest level of the messages that are written"),
        .value(
            "access", \.access, .flag, default: .flag(PlanDefaults.logAccess),
            "access log: whether requests get a line"),
        .list(
            "only", \.only, .oneOrMany(of: .logCondition),
            "requests that get a line, if not all"),
        .list(
            "headers", \.headers, .oneOrMany(of: .loggedHeader),
            "request headers that are written, with their values"),
        .value(
            "query", \.query, .choice, default: .choice(PlanDefaults.logQuery),
            "what is written of query parameters"),
    ]
}

extension Config.Log.Condition {
    /// As a configuration spells it.
    package var spelled: String {
        switch self {
        case .failed: "failed"
        case .partial: "partial"
        case .rejected: "rejected"
        case .slow(let limit): "slow > \(limit.spelled)"
        case .share(let millionths): Quantity.spelled(millionths: millionths)
        }
    }
}

extension ValueReader where Value == Config.Log.Condition {
    /// `failed`, `partial`, `rejected`, `slow > 500ms` or `1%`
    static var logCondition: ValueReader {
        let names = ["failed", "partial", "rejected"]
        let words =
            "must be failed, partial, rejected, a limit such as 'slow > 500ms', or a share such as 1%"
        let schema = ValueSchema.either([.choice(names), .text(format: .slowLimit), .share])
        return .scalar(schema, expected: words) { scalar throws(Refusal) in
            switch scalar.text {
            case "failed": return .failed
            case "partial": return .partial
            case "rejected": return .rejected
            case let text where text.hasPrefix("slow"):
                return .slow(try limit(in: text.dropFirst(4).drop { $0 == " " }))
            case let text where text.hasSuffix("%"):
                return .share(try Quantity(text, in: .share, allowsZero: false).amount)
            case let text:
                throw Refusal(.init(fixed: words) + .suggestion(for: text, among: names))
            }
        }
    }

    /// The time in `> 500ms`.
    private static func limit(in text: Substring) throws(Refusal) -> Duration {
        guard text.first == ">" else { throw Refusal("must have a limit, such as 'slow > 500ms'") }
        let time = String(text.dropFirst().drop { $0 == " " })
        return .nanoseconds(try Quantity(time, in: .time, allowsZero: false).amount)
    }
}

extension ValueReader where Value == String {
    static var loggedHeader: ValueReader {
        text(.headerName) { text throws(Refusal) in
            try HeaderSyntax.checkToken(text)
        }
    }
}
