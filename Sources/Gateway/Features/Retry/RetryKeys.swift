import YAMLReader

extension Config.Call {
    /// `retry:`
    package struct Retry: Sendable {
        let location: SourceLocation
        /// The maximum number of attempts, including the first.
        package var attempts: Located<Int>?
        package var on: Located<[Condition]>?
        package var backoff: Located<Duration>?
        init(location: SourceLocation) { self.location = location }

        package enum Condition: Sendable, Equatable {
            case connect, terminated
            case status(Int)

            /// As it is written.
            var spelled: String {
                switch self {
                case .connect: "connect"
                case .terminated: "terminated"
                case .status(let code): "\(code)"
                }
            }
        }
    }
}

extension Config.Call.Retry {
    /// Whether the first attempt is the only one.
    var isWithoutEffect: Bool { attempts?.value == 1 }
}

enum RetryKeys {
    static let call: [BlockKey<Config.Call>] = [
        .block("retry", \.retry, "sends the request again after a failure")
    ]
}

extension Config.Call.Retry: PlainBlock {
    static let keys: [BlockKey<Self>] = [
        .value(
            "attempts", \.attempts, .count(1...10), default: .number(PlanDefaults.retryAttempts),
            "maximum number of attempts, including the first"),
        .value(
            "on", \.on, .conditions, default: .texts(PlanDefaults.retryOn.map(\.spelled)),
            "failures to retry: connect, terminated, 429, or a status from 500 to 599"),
        .value(
            "backoff", \.backoff, .duration(allowsZero: true),
            default: .time(PlanDefaults.retryBackoff),
            "delay before the second attempt; it doubles for each further one"),
    ]
}

extension ValueReader where Value == [Config.Call.Retry.Condition] {
    static var conditions: ValueReader {
        ValueReader<[Located<Config.Call.Retry.Condition>]>.filledList(of: .retryCondition)
            .map { $0.map(\.value) }
    }
}

extension ValueReader where Value == Config.Call.Retry.Condition {
    static var retryCondition: ValueReader {
        let message = "must be connect, terminated, or a status: 429 or 500 to 599"
        let schema = ValueSchema.either([
            .choice(["connect", "terminated"]), .integer(429...429), .integer(500...599),
        ])
        return .scalar(schema, expected: message) { scalar throws(Refusal) in
            switch (scalar.text, scalar.type) {
            case ("connect", _): return .connect
            case ("terminated", _): return .terminated
            case (_, .integer(let status?)) where status == 429 || (500...599).contains(status):
                return .status(status)
            default:
                throw Refusal(
                    .init(fixed: message)
                        + .suggestion(for: scalar.text, among: ["connect", "terminated"]))
            }
        }
    }
}
