import Basics
import HTTP
import Reactor

extension PeerAddress {
    /// The peer of a stream.
    ///
    /// - Parameter requests: of its client; nil without a limit
    convenience init(
        _ address: SocketAddress?, _ facts: ConnectionFacts?, requests: SharedCount? = nil
    ) {
        guard case .ip(let host, let port)? = address else {
            self.init(
                text: nil, bits: address == nil ? .unknown : .unixSocket, facts: facts,
                requests: requests)
            return
        }
        let bits: Bits =
            switch host {
            case .v4(let bits): .v4(bits)
            case .v6(let high, let low): .v6(high, low)
            }
        self.init(
            text: host.description, port: port, bits: bits, facts: facts, requests: requests)
    }
}
