import CByteClasses
import Testing

@testable import JSONText

/// The masks of all instruction sets compared with a test of each byte.
struct BlockClassifierTests {
    @Test func oneClassifierIsForEveryProcessor() {
        #expect(!BlockClassifier.all.isEmpty)
    }

    @Test(arguments: 0..<BlockClassifier.all.count)
    func tokensAreThoseOfTheBytes(_ classifier: Int) {
        var random = Random(seed: 1)
        for length in 1...256 {
            let text = randomBytes(length, &random)
            let blocks = tokens(of: text, BlockClassifier.all[classifier])
            for (index, block) in blocks.enumerated() {
                let bytes = padded(text, from: 64 * index)
                #expect(block.quotes == mask(bytes) { $0 == .quote })
                #expect(block.backslashes == mask(bytes) { $0 == .backslash })
                #expect(block.spaces == mask(bytes) { $0 == .space })
                #expect(block.commas == mask(bytes) { $0 == .comma })
                #expect(block.colons == mask(bytes) { $0 == .colon })
                #expect(block.brackets == mask(bytes) { Array("{}[]".utf8).contains($0) })
                #expect(block.digits == mask(bytes) { $0.isDigit })
                #expect(block.zeros == mask(bytes) { $0 == .zero })
                #expect(block.dots == mask(bytes) { $0 == .dot })
                #expect(block.controls == mask(bytes) { $0 < .space })
                #expect(block.non_ascii == mask(bytes) { $0 >= 0x80 })
            }
        }
    }

    @Test(arguments: 0..<BlockClassifier.all.count)
    func utf8ClassesAreThoseOfTheBytes(_ classifier: Int) {
        var random = Random(seed: 2)
        for length in 1...64 {
            let text = randomBytes(length, &random)
            let bytes = padded(text, from: 0)
            let (classes, isInside) = BlockClassifier.all[classifier].utf8Classes(
                Lookahead(text.span), at: 0)
            #expect(classes.from_80 == mask(bytes) { $0 >= 0x80 })
            #expect(classes.from_a0 == mask(bytes) { $0 >= 0xA0 })
            #expect(classes.from_c0 == mask(bytes) { $0 >= 0xC0 })
            #expect(classes.from_e0 == mask(bytes) { $0 >= 0xE0 })
            #expect(classes.from_f0 == mask(bytes) { $0 >= 0xF0 })
            #expect(classes.e0 == mask(bytes) { $0 == 0xE0 })
            #expect(
                classes.special
                    == mask(bytes) { $0 == 0xC0 || $0 == 0xC1 || $0 == 0xED || $0 >= 0xF0 })
            #expect(isInside == text.allSatisfy { !endsInside($0) })
        }
    }

    /// Every byte value at every place of a block.
    @Test(arguments: 0..<BlockClassifier.all.count)
    func plainBlocksEndBeforeTheFirstBlockWithAnotherByte(_ classifier: Int) {
        for byte in UInt8.min...UInt8.max {
            var text = [UInt8](repeating: UInt8(ascii: "x"), count: 200)
            let offset = Int(byte) % 192
            text[offset] = byte
            let isPlain = !endsInside(byte) && byte < 0x80
            let count = BlockClassifier.all[classifier].plainCount(Lookahead(text.span), from: 0)
            #expect(count == (isPlain ? 192 : offset / 64 * 64), "\(byte)")
        }
    }

    private func endsInside(_ byte: UInt8) -> Bool {
        byte == .quote || byte == .backslash || byte < .space
    }

    private func tokens(of text: [UInt8], _ classifier: BlockClassifier) -> [BlockClasses] {
        BlockMemory.with { memory in
            classifier.classify(Lookahead(text.span), at: 0, into: memory)
            return (0..<((text.count + 63) / 64)).map { memory[$0] }
        }
    }

    /// All values, and the bytes of the grammar more often.
    private func randomBytes(_ count: Int, _ random: inout Random) -> [UInt8] {
        let frequent = Array("\"\\ ,:{}[]0123456789.\n".utf8)
        return (0..<count).map { _ in
            random.chance(oneIn: 2) ? random.pick(frequent) : UInt8(random.below(256))
        }
    }

    private func padded(_ text: [UInt8], from start: Int) -> [UInt8] {
        let block = text[start..<min(text.count, start + 64)]
        return block + [UInt8](repeating: .space, count: 64 - block.count)
    }

    private func mask(_ bytes: [UInt8], _ isIn: (UInt8) -> Bool) -> UInt64 {
        bytes.enumerated().reduce(0) { $0 | (isIn($1.element) ? 1 << UInt64($1.offset) : 0) }
    }
}
