import YAMLReader

extension Config.Backend {
    /// `queue:`, for calls above `max_concurrent`.
    package struct Queue: Sendable {
        let location: SourceLocation
        package var size: Located<Int>?
        package var wait: Located<Duration>?
        init(location: SourceLocation) { self.location = location }
    }
}

enum ConcurrencyLimitKeys {
    static let backend: [BlockKey<Config.Backend>] = [
        .value(
            "max_concurrent", \.maxConcurrent, .positive,
            "concurrency limit (bulkhead): maximum number of calls in progress"),
        .block("queue", \.queue, "queue for calls above max_concurrent"),
    ]
}

extension Config.Backend.Queue: PlainBlock {
    static let keys: [BlockKey<Self>] = [
        .value("size", \.size, .positive, isRequired: true, "maximum number of waiting calls"),
        .value(
            "wait", \.wait, .duration, default: .time(PlanDefaults.queueWait),
            "maximum time that a call waits"),
    ]
}
