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
        let bits: Bits =
            switch address {
            case .ip(.v4(let bits), _)?: .v4(bits)
            case .ip(.v6(let high, let low), _)?: .v6(high, low)
            case .unix?: .unixSocket
            case nil: .unknown
            }
        self.init(
            text: address.flatMap { $0.isUnix ? nil : "\($0)" }, bits: bits, facts: facts,
            requests: requests)
    }
}

extension SocketAddress {
    fileprivate var isUnix: Bool { if case .unix = self { true } else { false } }
}
