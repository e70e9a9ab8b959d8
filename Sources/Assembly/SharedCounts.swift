import HTTPServer

/// What the cores of one process count together. Made once, before the first core; each core gets it.
/// Everything in it may be used from all threads.
package struct SharedCounts: Sendable {
    let clients = ClientConnections()

    package init() {}
}
