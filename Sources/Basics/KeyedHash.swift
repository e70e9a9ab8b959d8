/// A keyed hash of words and texts (SipHash-1-3): without the key, no client can choose inputs that
/// collide.
///
/// Every text is hashed with its length, so that lists of texts differ wherever their entries do.
package struct KeyedHash: Sendable {
    /// The secret of a process; random in the daemon, fixed in a simulation.
    package struct Key: Sendable {
        let first: UInt64
        let second: UInt64

        package init(_ first: UInt64, _ second: UInt64) {
            self.first = first
            self.second = second
        }
    }

    private var v0: UInt64
    private var v1: UInt64
    private var v2: UInt64
    private var v3: UInt64
    /// The bytes so far, as the last block states them.
    private var count: UInt64 = 0

    package init(_ key: Key) {
        v0 = key.first ^ 0x736f_6d65_7073_6575
        v1 = key.second ^ 0x646f_7261_6e64_6f6d
        v2 = key.first ^ 0x6c79_6765_6e65_7261
        v3 = key.second ^ 0x7465_6462_7974_6573
    }

    package mutating func combine(_ word: UInt64) {
        count &+= 8
        absorb(word)
    }

    /// The length, then the bytes in words, the last one filled with zeros.
    package mutating func combine(_ bytes: Span<UInt8>) {
        combine(UInt64(bytes.count))
        var word: UInt64 = 0
        var shift: UInt64 = 0
        for index in bytes.indices {
            word |= UInt64(bytes[index]) << shift
            shift += 8
            if shift == 64 {
                combine(word)
                (word, shift) = (0, 0)
            }
        }
        if shift > 0 { combine(word) }
    }

    /// The hash of everything so far.
    package var value: UInt64 {
        var last = self
        last.absorb(count << 56)
        last.v2 ^= 0xff
        for _ in 0..<3 { last.round() }
        return last.v0 ^ last.v1 ^ last.v2 ^ last.v3
    }

    private mutating func absorb(_ word: UInt64) {
        v3 ^= word
        round()
        v0 ^= word
    }

    @inline(__always)
    private mutating func round() {
        v0 &+= v1
        v1 = (v1 << 13 | v1 >> 51) ^ v0
        v0 = v0 << 32 | v0 >> 32
        v2 &+= v3
        v3 = (v3 << 16 | v3 >> 48) ^ v2
        v0 &+= v3
        v3 = (v3 << 21 | v3 >> 43) ^ v0
        v2 &+= v1
        v1 = (v1 << 17 | v1 >> 47) ^ v2
        v2 = v2 << 32 | v2 >> 32
    }
}
