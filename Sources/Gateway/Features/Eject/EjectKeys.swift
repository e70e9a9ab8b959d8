import YAMLReader

extension Config.Backend {
    /// `eject:`, outlier detection.
    package struct Eject: Sendable {
        let location: SourceLocation
        /// Consecutive failures.
        package var after: Located<Int>?
        /// Written `for:`.
        package var duration: Located<Duration>?
        init(location: SourceLocation) { self.location = location }
    }
}

enum EjectKeys {
    static let backend: [BlockKey<Config.Backend>] = [
        .block(
            "eject", \.eject,
            "outlier detection: temporarily removes a failing host from load balancing")
    ]
}

extension Config.Backend.Eject: PlainBlock {
    static let keys: [BlockKey<Self>] = [
        .value(
            "after", \.after, .positive, default: .number(PlanDefaults.ejectAfter),
            "number of consecutive failures that ejects a host"),
        .value(
            "for", \.duration, .duration, default: .time(PlanDefaults.ejectFor),
            "duration of the first ejection; each later one is longer"),
    ]
}
