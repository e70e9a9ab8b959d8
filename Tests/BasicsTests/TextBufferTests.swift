import Basics
import Testing

/// A buffer has the same text as an array to which the same pieces are appended.
@Suite struct TextBufferTests {
    @Test(arguments: 0..<20 as Range<UInt64>)
    func holdsWhatAnArrayHolds(seed: UInt64) {
        let entropy = Entropy(seed: seed)
        var buffer = TextBuffer(capacity: Int(entropy.below(64)))
        for _ in 0..<20 {
            var array: [UInt8] = []
            for _ in 0..<entropy.below(60) {
                switch entropy.below(6) {
                case 0:
                    buffer.append(UInt8(ascii: "x"))
                    array.append(UInt8(ascii: "x"))
                case 1:
                    buffer.append(literal: "Content-Length: ")
                    array.append(literal: "Content-Length: ")
                case 2:
                    let number = entropy.next() >> entropy.below(64)
                    buffer.append(decimal: number)
                    array.append(decimal: number)
                case 3:
                    let (word, count) = (entropy.next(), Int(entropy.below(9)))
                    buffer.append(text: word, count: count)
                    array.append(text: word, count: count)
                default:
                    let piece = Bytes(
                        (0..<entropy.below(200)).map { UInt8(truncatingIfNeeded: $0) })
                    buffer.append(piece)
                    array.append(piece)
                }
            }
            #expect(buffer.count == array.count)
            #expect(Bytes(copying: buffer.span) == Bytes(array))
            buffer.removeAll(keepingCapacityUpTo: Int(entropy.below(4096)))
            #expect(buffer.count == 0)
        }
    }
}
