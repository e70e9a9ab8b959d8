/// The time limits of requests and calls.
enum DeadlineKeys {
    static let defaults: [BlockKey<Config.Defaults>] = [
        .value(
            "deadline", \.deadline, .duration, default: .time(PlanDefaults.deadline),
            "time limit for a whole request"),
        .value(
            "timeout", \.timeout, .duration, default: .time(PlanDefaults.timeout),
            "time limit for one call"),
    ]

    static let endpoint: [BlockKey<Config.Endpoint>] = [
        .value(
            "deadline", \.deadline, .duration, default: .key("defaults.deadline"),
            "time limit for the whole request"),
        .value(
            "timeout", \.timeout, .duration, default: .key("defaults.timeout"),
            "time limit for each of its calls"),
    ]

    static let call: [BlockKey<Config.Call>] = [
        .value(
            "timeout", \.timeout, .duration, default: .description("the endpoint's `timeout`"),
            "time limit for this call, with all retries")
    ]
}

extension Config {
    package func deadline(of endpoint: Endpoint) -> Located<Duration> {
        endpoint.deadline ?? defaults?.deadline
            ?? Located(PlanDefaults.deadline, at: endpoint.location)
    }

    package func timeout(of call: Call, in endpoint: Endpoint) -> Located<Duration> {
        call.timeout ?? endpoint.timeout ?? defaults?.timeout
            ?? Located(PlanDefaults.timeout, at: call.location)
    }
}
