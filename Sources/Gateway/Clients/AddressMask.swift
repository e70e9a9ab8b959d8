import Basics
import Reactor

/// `clients.ipv6_prefix`: the part of a client's address by which limits count: an IPv4 address, or the network of an IPv6
/// address, because a single host can choose its addresses from a whole /64.
struct AddressMask: Sendable {
    private let high: UInt64
    private let low: UInt64

    init(prefix: Int) {
        high = prefix >= 64 ? .max : ~(.max >> UInt64(max(0, prefix)))
        low = prefix >= 128 ? .max : prefix <= 64 ? 0 : ~(.max >> UInt64(prefix - 64))
    }

    /// All clients without an address, on unix sockets, count as one.
    func combine(_ address: IPAddress?, into hash: inout some LimitKey) {
        switch address {
        case nil: hash.combine(3)
        case .v4(let bits)?:
            hash.combine(4)
            hash.combine(UInt64(bits))
        case .v6(let high, let low)?:
            hash.combine(6)
            hash.combine(high & self.high)
            hash.combine(low & self.low)
        }
    }
}
