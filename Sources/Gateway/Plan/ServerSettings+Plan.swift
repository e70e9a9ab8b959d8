import HTTP

// The number of connections, which a plan and then the process's file descriptors limit.
extension ServerSettings {
    /// Accepts so many connections at once, and a share of them more for their 503.
    mutating func accept(_ connections: Int) {
        self.connections = connections
        refusedConnections = Self.refusedConnections(besides: connections)
    }

    /// An eighth of the connections, 8 to 64: a client that is refused should learn why, and the
    /// refused connections must not outnumber the others.
    static func refusedConnections(besides connections: Int) -> Int {
        min(64, max(8, connections / 8))
    }
}
