import Basics
import Reactor

/// What the values of a request that a limit counts by are written to: the hash of the process's
/// cells, or the text whose hash is the key in the store.
protocol LimitKey {
    mutating func combine(_ word: UInt64)
    mutating func combine(_ bytes: Span<UInt8>)
}

extension LimitKey {
    /// All clients on unix sockets count as one, and all whose address is unknown as another.
    mutating func combine(_ client: ClientHost) {
        switch client {
        case .unixSocket: combine(3 as UInt64)
        case .unknown: combine(5 as UInt64)
        case .ip(.v4(let bits)):
            combine(4 as UInt64)
            combine(UInt64(bits))
        case .ip(.v6(let high, let low)):
            combine(6 as UInt64)
            combine(high)
            combine(low)
        }
    }
}

extension KeyedHash: LimitKey {}

/// The values as a text that is the same in all replicas.
struct LimitKeyText: LimitKey {
    private(set) var bytes: [UInt8]

    /// - Parameter limit: the name of the limit
    init(_ limit: String) {
        bytes = Array(limit.utf8)
        bytes.append(0)
    }

    mutating func combine(_ word: UInt64) { bytes.append(text: word) }

    mutating func combine(_ bytes: Span<UInt8>) {
        combine(UInt64(bytes.count))
        self.bytes.append(copying: bytes)
    }
}
