import Basics
import Reactor

/// The addresses of one host, in the order in which they are worth trying, for as long as they
/// may be trusted.
///
/// The order is the system's until an address fails: that one goes to the end, so that the next
/// attempt begins with one that may work.
struct AddressBook {
    private let timeToLive: Duration
    private var addresses: [IPAddress] = []
    private var trustedUntil = Instant(nanoseconds: .min)

    init(timeToLive: Duration) {
        self.timeToLive = timeToLive
    }

    /// The addresses; nil when they must be asked for, again or for the first time.
    func trusted(at now: Instant) -> [IPAddress]? {
        addresses.isEmpty || now >= trustedUntil ? nil : addresses
    }

    /// The name service answered.
    mutating func learn(_ addresses: [IPAddress], at now: Instant) {
        self.addresses = addresses
        trustedUntil = now + timeToLive
    }

    /// No connection came about with this address.
    mutating func distrust(_ address: IPAddress) {
        guard let index = addresses.firstIndex(of: address) else { return }
        addresses.append(addresses.remove(at: index))
    }

    /// None of them works: whatever moved, the name service may know by now.
    mutating func forget() {
        addresses = []
    }
}
