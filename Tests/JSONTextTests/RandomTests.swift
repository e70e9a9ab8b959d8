import Basics
import Testing

@testable import JSONText

struct RandomTests {
    @Test(arguments: 1...200)
    func validDocumentsAndTheirPartsAreAccepted(seed: Int) throws {
        var documents = RandomDocument(seed: UInt64(seed))
        let text = "[" + (0..<20).map { _ in documents.value() }.joined(separator: ",") + "]"
        var open = [try slice(text)]
        while let value = open.popLast() {
            #expect(scanError(in: value.bytes.array) == nil)
            open += value.members.map(\.value)
            open += value.elements
        }
    }

    /// The same result as the reference after bytes were changed, inserted or removed.
    @Test(arguments: 1...200)
    func mutationsAgreeWithTheReference(seed: Int) {
        var documents = RandomDocument(seed: UInt64(seed))
        var random = Random(seed: UInt64(seed) &+ 7_000)
        let original = Array("[\(documents.value()),\(documents.value())]".utf8)
        for _ in 0..<50 {
            let text = random.mutated(original)
            let isSame = (scanError(in: text) == nil) == Reference.accepts(text)
            #expect(isSame, "\(String(decoding: text, as: UTF8.self))")
        }
    }

    @Test(arguments: 1...100)
    func prefixesAgreeWithTheReference(seed: Int) {
        var documents = RandomDocument(seed: UInt64(seed) &+ 500)
        let text = Array(documents.value().utf8)
        for end in 0..<min(text.count, 400) {
            let isSame =
                (scanError(in: Array(text[..<end])) == nil)
                == Reference.accepts(Array(text[..<end]))
            #expect(isSame, "\(String(decoding: text[..<end], as: UTF8.self))")
        }
    }

    /// Short texts of the grammar's tokens, for corner cases of the grammar.
    @Test(arguments: 1...100)
    func tokenSequencesAgreeWithTheReference(seed: Int) {
        var random = Random(seed: UInt64(seed) &+ 90_000)
        let pieces = [
            "{", "}", "[", "]", ",", ":", "\"", "\"a\"", "0", "1", "-", ".", "e", "E", "+", "true",
            "null", " ", "\n", "\\", "\\\"", "é",
            "{\"a\":", "[1,", "1}", "1]", "\"\\u00e9\"",
        ]
        for _ in 0..<200 {
            let prefix = random.pick(["", "[", "{\"k\":", "[1,"])
            let suffix = prefix.hasPrefix("[") ? "]" : prefix.isEmpty ? "" : "}"
            let sequence = (0..<random.below(7)).map { _ in random.pick(pieces) }.joined()
            let padding = String(repeating: " ", count: random.below(70))
            let text = Array((padding + prefix + sequence + suffix).utf8)
            let isSame = (scanError(in: text) == nil) == Reference.accepts(text)
            #expect(isSame, "\(String(decoding: text, as: UTF8.self))")
        }
    }
}
