import HTTPServer
package import Reactor

/// What the workers of one process share. Created once per process, before the first worker, and
/// kept across reloads; usable on all threads.
///
/// A simulated process has its own.
package struct SharedResources: Sendable {
    /// Resolves names for the loops of the process.
    package let names: NameService
    let clientConnections = ClientConnectionCounts()
    /// The spans between the workers and the collector.
    package let spans = SpanBacklog()

    package init(names: NameService) {
        self.names = names
    }
}
