/// The other end of a client's connection, as text and as numbers: computed once per connection, so
/// that no request parses it again.
package struct PeerAddress: Sendable {
    /// The address with its port; nil on a unix socket.
    package let text: String?
    package let bits: Bits

    /// An internet address in network byte order.
    package enum Bits: Sendable, Equatable {
        case v4(UInt32)
        case v6(UInt64, UInt64)
        /// A unix socket, or a connection of which only the text is known.
        case unknown
    }

    package init(text: String?, bits: Bits) {
        self.text = text
        self.bits = bits
    }
}
