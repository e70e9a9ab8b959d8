/// What tells this process apart from others of the same kind.
package struct ProcessIdentity: Sendable {
    /// The name of the host, or of the container.
    package let instance: String
    package let version: String
    /// The configuration's file.
    package let config: String
    /// How long the configuration has been in use.
    package let configAge: Duration

    package init(instance: String, version: String, config: String, configAge: Duration) {
        self.instance = instance
        self.version = version
        self.config = config
        self.configAge = configAge
    }
}
