import YAMLReader

extension Config.Backend {
    /// `health:`
    package struct Health: Sendable {
        let location: SourceLocation
        package var path: Located<String>?
        package var every: Located<Duration>?
        package var readiness: Located<Bool>?
        init(location: SourceLocation) { self.location = location }
    }
}

enum HealthKeys {
    static let backend: [BlockKey<Config.Backend>] = [
        .block("health", \.health, "active health checks of the hosts")
    ]
}

extension Config.Backend.Health: PlainBlock {
    static let keys: [BlockKey<Self>] = [
        .value(
            "path", \.path, .urlPath, isRequired: true, "path that each health check requests"),
        .value(
            "every", \.every, .duration, default: .time(PlanDefaults.healthEvery),
            "interval between the health checks of a host"),
        .value(
            "readiness", \.readiness, .flag, default: .flag(false),
            "whether /readyz is 503 while no host of this backend is healthy"),
    ]
}
