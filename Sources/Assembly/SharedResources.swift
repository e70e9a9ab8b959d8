package import Basics
package import Gateway
import HTTPServer
package import Reactor

/// What the workers of one process share. Created once per process, before the first worker, and
/// kept across reloads; usable on all threads.
///
/// A simulated process has its own.
package struct SharedResources: Sendable {
    /// Resolves names for the loops of the process.
    package let names: NameService
    let clientConnections = ClientCounts()
    /// The spans between the workers and the collector.
    package let spans = SpanBacklog()
    package var listeners = ListenerResources()
    /// The buckets of rate limits.
    package let limits: LimitTable

    /// - Parameter hashKey: the secret of the hashes of rate limits; random in the daemon, so that no
    ///   client can choose keys that collide
    package init(names: NameService, hashKey: KeyedHash.Key = KeyedHash.Key(0, 0)) {
        self.names = names
        limits = LimitTable(hashKey: hashKey)
    }
}
