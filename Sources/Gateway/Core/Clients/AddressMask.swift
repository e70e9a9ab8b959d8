import Reactor

/// `clients.ipv6_prefix`: the part of a client's address by which limits count: an IPv4 address, or
/// the network of an IPv6 address, because a single host can choose its addresses from a whole /64.
struct AddressMask: Sendable {
    private let high: UInt64
    private let low: UInt64

    init(prefix: Int) {
        high = prefix >= 64 ? .max : ~(.max >> UInt64(max(0, prefix)))
        low = prefix >= 128 ? .max : prefix <= 64 ? 0 : ~(.max >> UInt64(prefix - 64))
    }

    /// The host with its address, or with the address of its network.
    func network(of host: ClientHost) -> ClientHost {
        guard case .ip(.v6(let high, let low)) = host else { return host }
        return .ip(.v6(high & self.high, low & self.low))
    }
}
