/// The bytes of one body: each depends on the request, the direction and its position, so that a byte
/// of another body, or at another position, is recognised.
///
/// Every body is a part of one table of random bytes, repeated: debug builds copy and compare it quickly.
struct StreamContent {
    enum Direction: Int { case upload, download }

    /// Where the body begins in the table.
    private let start: Int

    /// - Parameter number: the number of the request
    init(number: Int, direction: Direction) {
        let mixed = number &* 0x85EB_CA6B &+ direction.rawValue &* 0x4F1B_BCDD
        start = (mixed & 0xFFFF_FFFF) % Self.table.count
    }

    /// Its length is prime, so that a displacement by whole pieces or windows is noticed.
    private static let table: [UInt8] = {
        var word: UInt64 = 0x9E37_79B9_7F4A_7C15
        return (0..<65_521).map { _ in
            word ^= word << 13
            word ^= word >> 7
            word ^= word << 17
            return UInt8(truncatingIfNeeded: word >> 32)
        }
    }()

    func bytes(_ range: Range<Int>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(range.count)
        while bytes.count < range.count {
            let place = (start + range.lowerBound + bytes.count) % Self.table.count
            let end = min(place + range.count - bytes.count, Self.table.count)
            bytes.append(contentsOf: Self.table[place..<end])
        }
        return bytes
    }

    /// The position of the first of these bytes that is another one; nil if they are all right.
    func firstDifference(_ bytes: [UInt8], from position: Int) -> Int? {
        let expected = self.bytes(position..<position + bytes.count)
        let words = bytes.count / 8
        let hasOtherWord = unsafe bytes.withUnsafeBytes { received in
            unsafe expected.withUnsafeBytes { expected in
                for word in 0..<words
                where unsafe received.loadUnaligned(fromByteOffset: word * 8, as: UInt64.self)
                    != expected.loadUnaligned(fromByteOffset: word * 8, as: UInt64.self)
                {
                    return true
                }
                return false
            }
        }
        for index in (hasOtherWord ? 0 : words * 8)..<bytes.count
        where bytes[index] != expected[index] {
            return position + index
        }
        return nil
    }
}
