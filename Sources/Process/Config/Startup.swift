package import Assembly
package import Gateway

/// What a process serves, read at its start, and what it runs beside the gateway.
package struct Startup {
    let source: ConfigSource
    let config: RecordedConfig
    let plan: Plan
    /// Text for standard output when the process serves.
    let announcement: Announcement?
    /// Called when the process ends.
    let onEnd: () -> Void

    /// From the address of the gateway and the address of the admin server.
    package typealias Announcement = (_ address: String, _ admin: String?) -> String

    package init(
        _ source: ConfigSource, _ config: RecordedConfig, _ plan: Plan,
        announcement: Announcement? = nil,
        onEnd: @escaping () -> Void = {}
    ) {
        self.source = source
        self.config = config
        self.plan = plan
        self.announcement = announcement
        self.onEnd = onEnd
    }
}
