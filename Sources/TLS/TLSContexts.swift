import Promises

/// The contexts of one configuration: one for all backends with equal settings and one for each
/// listener, for all workers, because reading a system's list of authorities takes tens of
/// milliseconds, too long for a worker that serves requests.
package final class TLSContexts: Sendable {
    private let clients = Guarded<[TLSClientContext]>([])
    private let servers = Guarded<[TLSServerContext]>([])

    package init() {}

    /// The context with these settings; created on first use.
    package func context(
        for settings: TLSSettings
    ) throws(TLSSettingsError) -> TLSClientContext {
        let found = clients.withLock { contexts in contexts.first { $0.settings == settings } }
        if let found { return found }
        // Created outside of the lock; if two threads create one, both are valid.
        let context = try TLSClientContext(settings)
        clients.withLock { $0.append(context) }
        return context
    }

    /// The context of a listener with these settings; created on first use.
    package func context(
        for settings: TLSServerSettings
    ) throws(TLSServerSettingsError) -> TLSServerContext {
        let found = servers.withLock { contexts in contexts.first { $0.settings == settings } }
        if let found { return found }
        let context = try TLSServerContext(settings)
        servers.withLock { $0.append(context) }
        return context
    }
}
