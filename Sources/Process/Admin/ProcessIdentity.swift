/// What tells this process apart from others of the same kind.
struct ProcessIdentity: Sendable {
    /// The name of the host, or of the container.
    let instance: String
    let version: String
    /// The configuration's file.
    let config: String
    /// How long the configuration has been in use.
    let configAge: Duration

    init(instance: String, version: String, config: String, configAge: Duration) {
        self.instance = instance
        self.version = version
        self.config = config
        self.configAge = configAge
    }
}
