extension Config.Endpoint {
    /// What happens to query parameters that no key of the endpoint names.
    package enum UnknownQuery: String, Sendable, CaseIterable { case drop, refuse }
}

enum UnknownQueryKeys {
    static let endpoint: [BlockKey<Config.Endpoint>] = [
        .value(
            "unknown_query", \.unknownQuery, .choice,
            default: .choice(PlanDefaults.unknownQuery),
            "what happens to query parameters that nothing uses: drop them, or refuse with 400")
    ]
}
