/// The concurrency limit of an endpoint.
enum InFlightLimitKeys {
    static let endpoint: [BlockKey<Config.Endpoint>] = [
        .value(
            "max_in_flight", \.maxInFlight, .positive,
            "concurrency limit: maximum number of requests in flight; else 503")
    ]
}
