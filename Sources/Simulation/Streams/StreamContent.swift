/// The bytes of one body: each depends on the request, the direction and its position, so that a byte
/// of another body, or at another position, is recognised.
struct StreamContent {
    /// The number of the request.
    let number: Int
    let direction: Direction

    enum Direction: Int { case upload, download }

    private func byte(at position: Int) -> UInt8 {
        let mixed = (position &+ 1) &* 0x9E37_79B1 &+ number &* 0x85EB_CA6B &+ direction.rawValue
        return UInt8(truncatingIfNeeded: mixed >> 11 ^ mixed >> 19)
    }

    func bytes(_ range: Range<Int>) -> [UInt8] { range.map(byte) }

    /// The position of the first of these bytes that is another one; nil if they are all right.
    func firstDifference(_ bytes: ArraySlice<UInt8>, from position: Int) -> Int? {
        for (offset, received) in bytes.enumerated() where received != byte(at: position + offset) {
            return position + offset
        }
        return nil
    }
}
