import Basics
import Testing

@testable import JSONText

/// Texts of several blocks. `scanError` compares the scans in blocks with the scan without them; the
/// tests of corpus, UTF-8 and errors use it, too.
struct BlockScannerTests {
    @Test(arguments: 1...30)
    func tokensAreFoundAtEveryPlaceOfABlock(seed: Int) {
        var documents = RandomDocument(seed: UInt64(seed) &+ 20_000)
        let text = Array("[\(documents.value()),{\"k\":\(documents.value())}]".utf8)
        for padding in 0..<64 {
            #expect(scanError(in: [UInt8](repeating: .space, count: padding) + text) == nil)
        }
    }

    @Test(arguments: 1...60)
    func mutationsOfLongTextsAgreeWithTheReference(seed: Int) {
        var documents = RandomDocument(seed: UInt64(seed) &+ 30_000)
        var random = Random(seed: UInt64(seed) &+ 40_000)
        let values = (0..<6).map { _ in documents.value() }.joined(separator: ",")
        let original = Array("[\(values)]".utf8)
        for _ in 0..<30 {
            let text = random.mutated(original)
            let isSame = (scanError(in: text) == nil) == Reference.accepts(text)
            #expect(isSame, "\(String(decoding: text, as: UTF8.self))")
        }
    }

    /// Strings that are long enough for the scan of whole blocks inside of strings.
    @Test(arguments: ["x", "é", "漢", "😀", "हिन्दी", "한국어", "a é "])
    func longStringsOfEveryLengthAreValid(_ part: String) {
        for length in 0..<150 {
            let inside = String(repeating: part, count: length)
            #expect(scanError(in: "[\"\(inside)\",\"\(inside)x\"]") == nil)
        }
    }

    @Test(arguments: [
        ("%01", JSONError.Reason.controlByte), ("\\x", .invalidEscape), ("%FF", .invalidUTF8),
        ("%C3", .invalidUTF8), ("%E0%9F%BF", .invalidUTF8), ("%ED%A0%80", .invalidUTF8),
        ("%F4%90%80%80", .invalidUTF8), ("\\udc00", .loneSurrogate),
    ])
    func errorsInLongStringsHaveTheirOffset(_ notation: String, _ reason: JSONError.Reason) {
        for part in ["x", "é", "漢"] {
            let plain = Array(String(repeating: part, count: 250).utf8)
            let width = part.utf8.count
            for place in stride(from: 0, through: 250, by: 7) {
                let offset = place * width
                let text =
                    Array("[\"".utf8) + plain[..<offset] + Corpus.bytes(notation) + plain[offset...]
                    + Array("\"]".utf8)
                #expect(scanError(in: text) == JSONError(offset: 2 + offset, reason: reason))
            }
        }
    }

    /// Whole plain blocks follow, which the scan skips: not between a backslash and its letter.
    @Test(arguments: ["\\n", "\\\"", "\\\\", "\\u00e9", "\\ud83d\\ude00"])
    func escapesBeforePlainBlocksAreValid(_ escape: String) {
        for place in 0..<130 {
            let before = String(repeating: "x", count: place)
            let after = String(repeating: "x", count: 200)
            #expect(scanError(in: "[\"\(before)\(escape)\(after)\"]") == nil)
        }
    }

    /// A combination of bits maps each of these bytes to a bracket.
    @Test(arguments: ["[Y]]", "[_]]", "[y}]", "[[\u{7f}", "{y}}", "[[]\u{7f}"])
    func bytesLikeBracketsAreNoBrackets(_ text: String) {
        #expect(scanError(in: text)?.reason == .unexpectedByte)
    }

    @Test(arguments: ["[true\u{1}]", "[1\u{b}]", "[\u{c}1]", "[1e5\u{1}]", "{\"a\"\u{0}:1}"])
    func controlBytesOutsideOfStringsAreRefused(_ text: String) {
        #expect(scanError(in: text)?.reason == .unexpectedByte)
    }

    @Test func containersNestAsDeeplyAsOneWordAllows() {
        func nested(_ depth: Int) -> [UInt8] {
            Array(
                (String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
        }
        func isAccepted(_ depth: Int, depthMax: Int) -> Bool {
            let text = nested(depth)
            return BlockClassifier.all.allSatisfy {
                BlockScanner(text.span, depthMax: depthMax, $0).wholeText() == 0..<text.count
            }
        }
        #expect(isAccepted(BlockContainers.depthMax, depthMax: 1024))
        #expect(!isAccepted(BlockContainers.depthMax + 1, depthMax: 1024))
        for depth in 1...70 {
            #expect(isAccepted(depth, depthMax: depth) == (depth <= BlockContainers.depthMax))
            #expect(!isAccepted(depth, depthMax: depth - 1))
            #expect(scanError(in: nested(depth), depthMax: depth) == nil)
            #expect(scanError(in: nested(depth), depthMax: depth - 1)?.reason == .tooDeep)
        }
    }

    @Test func onlyWhiteSpaceMayFollowTheContainer() {
        let text = "[" + String(repeating: "1,", count: 400) + "1]"
        #expect(scanError(in: text + " \r\n\t ") == nil)
        for rest in ["x", " 1", "]", ",", "\u{0}", "\"\""] {
            let error = scanError(in: text + rest)
            #expect(error?.reason == .textAfterValue)
        }
    }

    @Test func scalarsAreNotSupported() {
        for text in ["1", "\"\(String(repeating: "x", count: 600))\"", "null", "  true"] {
            let bytes = Array(text.utf8)
            for classifier in BlockClassifier.all {
                let range = BlockScanner(bytes.span, depthMax: 10, classifier).wholeText()
                #expect(range == nil)
            }
            #expect(scanError(in: text) == nil)
        }
    }
}
