import HTTP
import Reactor

/// What is known about a client's connection since it was accepted, whatever its protocol.
struct Acceptance {
    let server: ServerContext
    let table: ConnectionTable
    /// The client that the connection counts for, if connections are limited per client.
    let client: ClientCounts.Client?
    /// Nil for a plain connection whose requests are served.
    var facts: ConnectionFacts?
    /// Whether the connection is one too many, and will be rejected.
    var isRefused = false
    /// The number of the listener that accepted it.
    var listener: UInt16 = 0

    /// The client's address and what else is known about it, for the exchanges.
    func peerAddress(of stream: any ByteStream) -> PeerAddress {
        server.peerAddress(of: stream, client, facts)
    }
}
