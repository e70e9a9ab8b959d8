import HTTPServer
package import Reactor

/// What the workers of one process share. Made once per process, before the first worker, and kept
/// across reloads; everything in it may be used on all threads.
///
/// A simulated process has its own.
package struct Shared: Sendable {
    /// For the loops of the process, which get it when they are made.
    package let names: NameService
    let clients = ClientConnections()

    package init(names: NameService) {
        self.names = names
    }
}
