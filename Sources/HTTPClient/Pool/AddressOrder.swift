import Basics
import Reactor

/// The order in which the addresses of one host are tried.
///
/// Each connection begins with the next address of the family (IPv4 or IPv6) that the system lists first, so
/// that each of these addresses gets its share of the connections. The others follow in the order of the system,
/// addresses that failed a short time ago last. Owned by a `Connector`.
struct AddressOrder {
    private var addresses: [IPAddress] = []
    /// When an address that failed may be tried first again.
    private var failed: [IPAddress: Instant] = [:]
    /// The number of the next connection; nil before the first one.
    private var turn: Int?

    /// How long an address that failed comes last.
    ///
    /// 10 s: an address that does not respond costs a share of `connectTimeout` each time.
    static let failedFor = Duration.seconds(10)

    /// Sorts the present addresses of the name into the order in which to try them.
    ///
    /// - Parameter start: draws where the first connection begins: a number below this one. Different
    ///   for each worker, which may have one connection only.
    mutating func sort(
        _ current: [IPAddress], at now: Instant, start: (Int) -> Int
    ) -> [IPAddress] {
        // A name service may permute its results, so a change of the order alone is ignored.
        let isSame =
            current.count == addresses.count && current.allSatisfy { addresses.contains($0) }
        if !isSame { addresses = current }
        guard addresses.count > 1 else { return addresses }
        failed = failed.filter { $0.value > now && addresses.contains($0.key) }
        let usable = addresses.filter { failed[$0] == nil }
        let last = addresses.filter { failed[$0] != nil }.sorted { before($0, $1) }
        let preferred = usable.filter { $0.isVersion4 == usable[0].isVersion4 }
        guard !preferred.isEmpty else { return last }
        let turn = self.turn ?? start(preferred.count)
        self.turn = turn &+ 1
        let first = Int(UInt(bitPattern: turn) % UInt(preferred.count))
        return Array(preferred[first...] + preferred[..<first])
            + usable.filter { $0.isVersion4 != usable[0].isVersion4 } + last
    }

    /// The address that failed first may work again first.
    private func before(_ one: IPAddress, _ other: IPAddress) -> Bool {
        guard let left = failed[one], let right = failed[other] else { return false }
        return left < right
    }

    /// A connection to this address failed.
    mutating func recordFailure(_ address: IPAddress, at now: Instant) {
        guard addresses.contains(address) else { return }
        failed[address] = now + Self.failedFor
    }
}

extension IPAddress {
    fileprivate var isVersion4: Bool { if case .v4 = self { true } else { false } }
}
