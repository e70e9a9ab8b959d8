import Synchronization

/// The contexts of one configuration: one for all backends with equal settings and for all workers,
/// because reading a system's list of authorities takes tens of milliseconds, too long for a worker
/// that serves requests.
package final class TLSClientContexts: Sendable {
    private let contexts = Mutex<[TLSClientContext]>([])

    package init() {}

    /// The context with these settings; created on first use.
    package func context(
        for settings: TLSSettings
    ) throws(TLSSettingsError) -> TLSClientContext {
        if let context = find(settings) { return context }
        // Created outside of the lock; if two threads create one, both are valid.
        let context = try TLSClientContext(settings)
        contexts.withLock { $0.append(context) }
        return context
    }

    private func find(_ settings: TLSSettings) -> TLSClientContext? {
        contexts.withLock { contexts in contexts.first { $0.settings == settings } }
    }
}
