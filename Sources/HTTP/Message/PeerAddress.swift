package import Basics

/// The other end of a client's connection: its address as text and as numbers, computed once per
/// connection, so that no request parses it again, and what else is known about it. The exchanges of
/// a connection share it.
package final class PeerAddress: Sendable {
    /// The address without a port or brackets; nil on a unix socket, and if it is unknown.
    package let text: String?
    /// Nil on a unix socket, and if it is unknown.
    package let port: UInt16?
    package let bits: Bits
    /// Nil for a plain connection of a listener without a name, whose requests are served.
    package let facts: ConnectionFacts?
    /// The requests in flight of its client, over all workers; nil if they are not limited.
    package let requests: SharedCount?

    /// An internet address in network byte order.
    package enum Bits: Sendable, Equatable {
        case v4(UInt32)
        case v6(UInt64, UInt64)
        /// A unix socket, whose peers have no address.
        case unixSocket
        /// Only the text is known, or nothing.
        case unknown
    }

    package init(
        text: String?, port: UInt16? = nil, bits: Bits, facts: ConnectionFacts? = nil,
        requests: SharedCount? = nil
    ) {
        self.text = text
        self.port = port
        self.bits = bits
        self.facts = facts
        self.requests = requests
    }
}
