import Basics
import Gateway
import HTTP

/// Values as words of 32 bits.
extension [UInt32] {
    mutating func append(wide value: UInt64) {
        append(UInt32(truncatingIfNeeded: value))
        append(UInt32(truncatingIfNeeded: value >> 32))
    }

    /// The length of a client's id, or 0 and the four words of the gateway's own.
    mutating func append(_ id: RequestID) {
        switch id {
        case .own(let high, let low):
            append(0)
            append(wide: high)
            append(wide: low)
        case .client(let bytes): append(text: bytes)
        }
    }

    /// The number of bytes, and the bytes.
    mutating func append(text bytes: Bytes) {
        append(UInt32(bytes.count))
        var word: UInt32 = 0
        let text = bytes.span
        for index in text.indices {
            word |= UInt32(text[index]) << UInt32(index % 4 * 8)
            if index % 4 == 3 || index == text.count - 1 {
                append(word)
                word = 0
            }
        }
    }
}

/// Reads values from words; nil beyond the end.
package struct WordReader {
    private let words: [UInt32]
    package private(set) var offset = 0

    package init(_ words: [UInt32]) {
        self.words = words
    }

    mutating func next() -> UInt32? {
        guard offset < words.count else { return nil }
        offset += 1
        return words[offset - 1]
    }

    mutating func nextWide() -> UInt64? {
        guard let low = next(), let high = next() else { return nil }
        return UInt64(low) | UInt64(high) << 32
    }

    mutating func nextMoment() -> Moment? { next().map { Moment(microseconds: $0) } }

    mutating func nextID() -> RequestID? {
        guard let count = next() else { return nil }
        guard count > 0 else {
            guard let high = nextWide(), let low = nextWide() else { return nil }
            return .own(high, low)
        }
        return nextText(of: count).map { .client($0) }
    }

    mutating func nextText() -> Bytes? { next().flatMap { nextText(of: $0) } }

    /// - Parameter count: its bytes
    private mutating func nextText(of count: UInt32) -> Bytes? {
        var text: [UInt8] = []
        for _ in 0..<(count + 3) / 4 {
            guard let word = next() else { return nil }
            for byte in 0..<4 where text.count < count {
                text.append(UInt8(truncatingIfNeeded: word >> UInt32(byte * 8)))
            }
        }
        return Bytes(text)
    }
}
