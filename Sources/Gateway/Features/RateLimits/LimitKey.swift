import Basics
import Reactor

/// What the values of a request that a limit counts by are written to: the hash of the process's
/// cells, or the text whose hash is the key in the store.
protocol LimitKey {
    mutating func combine(_ word: UInt64)
    mutating func combine(_ bytes: Span<UInt8>)
}

/// The kind of the value that follows in a key, so that no value is mistaken for one of another kind.
/// Replicas of different versions share keys, so no number changes.
enum LimitKeyMark: UInt64 {
    case caller = 1
    case value = 2
    case unixSocket = 3
    case ipv4 = 4
    case unknownClient = 5
    case ipv6 = 6
    case plan = 7
}

extension LimitKey {
    mutating func combine(_ mark: LimitKeyMark) { combine(mark.rawValue) }

    /// All clients on unix sockets count as one, and all whose address is unknown as another.
    mutating func combine(_ client: ClientHost) {
        switch client {
        case .unixSocket: combine(LimitKeyMark.unixSocket)
        case .unknown: combine(LimitKeyMark.unknownClient)
        case .ip(.v4(let bits)):
            combine(LimitKeyMark.ipv4)
            combine(UInt64(bits))
        case .ip(.v6(let high, let low)):
            combine(LimitKeyMark.ipv6)
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
