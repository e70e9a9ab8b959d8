import HTTP

// Sets the number of connections, which the plan and then the process's file descriptors limit.
extension ServerSettings {
    /// Limits the connections at the same time, and those beyond them that receive a 503.
    mutating func limitConnections(to connections: Int) {
        self.connections = connections
        refusedConnections = Self.refusedConnections(besides: connections)
    }

    /// An eighth of the connections, from 8 to 64: a refused client should receive a 503, but
    /// refused connections must not outnumber the others.
    static func refusedConnections(besides connections: Int) -> Int {
        min(64, max(8, connections / 8))
    }
}
