import Basics
import Testing

@testable import JSONText

struct RandomTests {
    @Test(arguments: 1...200)
    func validDocumentsAreAcceptedAndSoIsEveryPartOfThem(seed: Int) throws {
        var maker = RandomDocument(seed: UInt64(seed))
        let text = "[" + (0..<20).map { _ in maker.value() }.joined(separator: ",") + "]"
        var open = [try slice(text)]
        while let value = open.popLast() {
            #expect(fault(in: value.bytes.array) == nil)
            open += value.members.map(\.value)
            open += value.elements
        }
    }

    /// The same verdict as the plain reference after bytes were changed, put in or taken out.
    @Test(arguments: 1...200)
    func mutationsAreJudgedAsByTheReference(seed: Int) {
        var maker = RandomDocument(seed: UInt64(seed))
        var random = Random(seed: UInt64(seed) &+ 7_000)
        let original = Array("[\(maker.value()),\(maker.value())]".utf8)
        for _ in 0..<50 {
            let text = mutated(original, &random)
            let isSame = (fault(in: text) == nil) == Reference.accepts(text)
            #expect(isSame, "\(String(decoding: text, as: UTF8.self))")
        }
    }

    @Test(arguments: 1...100)
    func everyPrefixIsJudgedAsByTheReference(seed: Int) {
        var maker = RandomDocument(seed: UInt64(seed) &+ 500)
        let text = Array(maker.value().utf8)
        for end in 0..<min(text.count, 400) {
            let isSame =
                (fault(in: Array(text[..<end])) == nil) == Reference.accepts(Array(text[..<end]))
            #expect(isSame, "\(String(decoding: text[..<end], as: UTF8.self))")
        }
    }

    /// Short texts of the bytes that matter most: the grammar's corners in their thousands.
    @Test(arguments: 1...100)
    func soupIsJudgedAsByTheReference(seed: Int) {
        var random = Random(seed: UInt64(seed) &+ 90_000)
        let pieces = [
            "{", "}", "[", "]", ",", ":", "\"", "\"a\"", "0", "1", "-", ".", "e", "E", "+", "true",
            "null", " ", "\n", "\\", "\\\"", "é",
            "{\"a\":", "[1,", "1}", "1]", "\"\\u00e9\"",
        ]
        for _ in 0..<200 {
            let prefix = random.pick(["", "[", "{\"k\":", "[1,"])
            let suffix = prefix.hasPrefix("[") ? "]" : prefix.isEmpty ? "" : "}"
            let soup = (0..<random.below(7)).map { _ in random.pick(pieces) }.joined()
            let padding = String(repeating: " ", count: random.below(70))
            let text = Array((padding + prefix + soup + suffix).utf8)
            let isSame = (fault(in: text) == nil) == Reference.accepts(text)
            #expect(isSame, "\(String(decoding: text, as: UTF8.self))")
        }
    }

    private func mutated(_ text: [UInt8], _ random: inout Random) -> [UInt8] {
        var text = text
        let bytes =
            Array("\"\\{}[],:0123.eE+-tfnu \n\0".utf8) + [0x80, 0xC3, 0xE2, 0xFF, 0x1F, 0x7F]
        for _ in 0...random.below(2) {
            let place = random.below(text.count + 1)
            switch random.below(3) {
            case 0: text.insert(random.pick(bytes), at: place)
            case 1 where place < text.count: text.remove(at: place)
            case _ where place < text.count: text[place] = random.pick(bytes)
            default: break
            }
        }
        return text
    }
}
