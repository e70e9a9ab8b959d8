/// What distinguishes this process from others of the same kind.
struct ProcessIdentity: Sendable {
    /// The name of the host, or of the container.
    let instance: String
    let version: String
    /// The configuration's file.
    let config: String
    /// How long the configuration has been in use.
    let configAge: Duration
}
