extension Config.Endpoint {
    /// Whether paths that servers read in different ways are refused.
    package enum Paths: String, Sendable, CaseIterable { case strict, lenient }
}

enum PathsKeys {
    static let endpoint: [BlockKey<Config.Endpoint>] = [
        .value(
            "paths", \.paths, .choice, default: .key("defaults.paths"),
            "what happens to paths that servers read in different ways: strict refuses them with 400"
        )
    ]

    static let defaults: [BlockKey<Config.Defaults>] = [
        .value(
            "paths", \.paths, .choice,
            default: .description(
                "`strict` where a route could bypass another one, else `lenient`"),
            "what happens to paths that servers read in different ways: strict refuses them with 400"
        )
    ]
}

extension Config {
    /// Nil where neither the endpoint nor `defaults` has `paths`.
    package func paths(of endpoint: Endpoint) -> Located<Endpoint.Paths>? {
        endpoint.paths ?? defaults?.paths
    }
}
