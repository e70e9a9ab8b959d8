import Basics
import COpenSSL
import Promises

/// The keys that encrypt the session tickets of a process.
///
/// All workers share them, and they survive reloads. A new key replaces the present one when that has
/// been used for its lifetime; the former one still decrypts. They exist in memory only: a ticket of
/// another process leads to a full handshake.
package final class TLSTicketKeys: Sendable {
    /// One key for the cipher and one for the authentication, with the name that tickets contain.
    struct Key {
        var bytes: [UInt8]
        /// In seconds since 1970.
        var created: Int64

        static let nameBytes = Int(TRIBUTARY_TICKET_NAME)
        static let keyBytes = Int(TRIBUTARY_TICKET_KEY)

        /// Nil if the system has no random numbers.
        init?(at time: Int64) {
            bytes = [UInt8](repeating: 0, count: Self.nameBytes + 2 * Self.keyBytes)
            created = time
            guard RAND_bytes(&bytes, CInt(bytes.count)) == 1 else { return nil }
        }
    }

    /// The present key and the former one.
    private struct Pair {
        var present: Key
        var former: Key?
    }

    /// By lifetime in seconds, since listeners may have different ones.
    private let pairs = Guarded<[Int64: Pair]>([:])

    package init() {}

    /// The key for new tickets; nil if the system has no random numbers.
    func present(lifetime: Int64, at time: Int64) -> Key? {
        pairs.withLock { pairs in
            Self.rotate(&pairs[lifetime], lifetime, time)
            return pairs[lifetime]?.present
        }
    }

    /// The key with a name, and whether a new ticket should replace those that it encrypted; nil if
    /// there is none.
    func key(
        named name: UnsafeRawBufferPointer, lifetime: Int64, at time: Int64
    ) -> (key: Key, isFormer: Bool)? {
        pairs.withLock { pairs in
            Self.rotate(&pairs[lifetime], lifetime, time)
            guard let pair = pairs[lifetime] else { return nil }
            if pair.present.bytes.starts(with: name) { return (pair.present, false) }
            guard let former = pair.former, former.bytes.starts(with: name) else { return nil }
            return (former, true)
        }
    }

    private static func rotate(_ pair: inout Pair?, _ lifetime: Int64, _ time: Int64) {
        guard let present = pair?.present else {
            pair = Key(at: time).map { Pair(present: $0, former: nil) }
            return
        }
        let age = time - present.created
        // A clock that was set back must not keep a key for longer.
        guard age >= lifetime || age < 0, let key = Key(at: time) else { return }
        // After two lifetimes without a handshake, the former key is too old, too.
        pair = Pair(present: key, former: age < 2 * lifetime ? present : nil)
    }
}

/// The access of one connection to the ticket keys.
struct TicketAccess {
    let keys: TLSTicketKeys
    /// In seconds.
    let lifetime: Int64
    /// When the handshake began, in seconds since 1970.
    let time: Int64

    /// Prepares the encryption of a new ticket, or the decryption of a received one. The result is
    /// the result of the callback: 1 for success, 2 to replace the ticket, 0 for a full handshake.
    func begin(
        name: UnsafeMutablePointer<UInt8>, iv: UnsafeMutablePointer<UInt8>,
        cipher: OpaquePointer?, mac: OpaquePointer?, encrypts: Bool
    ) -> CInt {
        let names = UnsafeMutableRawBufferPointer(start: name, count: TLSTicketKeys.Key.nameBytes)
        let key: TLSTicketKeys.Key
        var result: CInt = 1
        if encrypts {
            guard let present = keys.present(lifetime: lifetime, at: time) else { return 0 }
            key = present
            names.copyBytes(from: key.bytes[..<names.count])
        } else {
            guard
                let found = keys.key(
                    named: UnsafeRawBufferPointer(names), lifetime: lifetime, at: time)
            else { return 0 }
            key = found.key
            result = found.isFormer ? 2 : 1
        }
        let isReady = key.bytes.withUnsafeBufferPointer { bytes in
            guard let start = bytes.baseAddress else { return false }
            let first = start + TLSTicketKeys.Key.nameBytes
            return tributary_ticket_begin(
                cipher, mac, first, first + TLSTicketKeys.Key.keyBytes, iv, encrypts ? 1 : 0) == 1
        }
        return isReady ? result : -1
    }
}
