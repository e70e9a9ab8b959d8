import Reactor

/// The order in which the addresses of one host are tried.
///
/// The order is the system's until an address fails: that one goes to the end, so that the next
/// attempt begins with one that may work. Owned by a `Connector`.
struct AddressOrder {
    private var addresses: [IPAddress] = []

    /// Puts the addresses that the name has now into the order in which to try them.
    mutating func sort(_ current: [IPAddress]) -> [IPAddress] {
        // A name service may permute its answers; a change of the order alone means nothing.
        let isSame =
            current.count == addresses.count && current.allSatisfy { addresses.contains($0) }
        if !isSame { addresses = current }
        return addresses
    }

    /// No connection to this address could be made.
    mutating func moveToEnd(_ address: IPAddress) {
        guard let index = addresses.firstIndex(of: address) else { return }
        addresses.append(addresses.remove(at: index))
    }
}
