import Synchronization

/// The contexts of one configuration: one for all backends with the same settings, and the same one
/// for all cores, because reading a system's list of authorities takes tens of milliseconds, which
/// no core has while it serves.
package final class TLSClientContexts: Sendable {
    private let contexts = Mutex<[TLSClientContext]>([])

    package init() {}

    /// The context with these settings; created on first use.
    package func context(
        for settings: TLSSettings
    ) throws(TLSSettingsError) -> TLSClientContext {
        if let context = find(settings) { return context }
        // Made outside of the lock; should two threads make one, both are good.
        let context = try TLSClientContext(settings)
        contexts.withLock { $0.append(context) }
        return context
    }

    private func find(_ settings: TLSSettings) -> TLSClientContext? {
        contexts.withLock { contexts in contexts.first { $0.settings == settings } }
    }
}
