import Reactor

/// The order in which the addresses of one host are tried.
///
/// The order of the system, except that a failed address moves to the end, so that the next attempt
/// begins with one that may work. Owned by a `Connector`.
struct AddressOrder {
    private var addresses: [IPAddress] = []

    /// Sorts the present addresses of the name into the order in which to try them.
    mutating func sort(_ current: [IPAddress]) -> [IPAddress] {
        // A name service may permute its results, so a change of the order alone is ignored.
        let isSame =
            current.count == addresses.count && current.allSatisfy { addresses.contains($0) }
        if !isSame { addresses = current }
        return addresses
    }

    /// A connection to this address failed.
    mutating func moveToEnd(_ address: IPAddress) {
        guard let index = addresses.firstIndex(of: address) else { return }
        addresses.append(addresses.remove(at: index))
    }
}
