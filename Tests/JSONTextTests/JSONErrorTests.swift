import Basics
import Testing

@testable import JSONText

struct JSONErrorTests {
    @Test(arguments: [
        ("", 0, JSONError.Reason.unexpectedEnd), ("  ", 2, .unexpectedEnd),
        ("[1,", 3, .unexpectedEnd),
        (#"{"a""#, 4, .unexpectedEnd), (#""abc"#, 4, .unexpectedEnd), (#""ab\"#, 4, .unexpectedEnd),
        (#""\u12"#, 5, .unexpectedEnd), ("-", 1, .unexpectedEnd), ("1e", 2, .unexpectedEnd),
        ("tru", 3, .unexpectedEnd),
        ("[1,]", 3, .unexpectedByte), ("{1:2}", 1, .unexpectedByte),
        (#"{"a" 1}"#, 5, .unexpectedByte),
        ("[1}", 2, .unexpectedByte), ("trux", 3, .unexpectedByte),
        ("\u{feff}1", 0, .unexpectedByte),
        ("1 2", 2, .textAfterValue), ("{}x", 2, .textAfterValue), ("1\0", 1, .textAfterValue),
        ("01", 1, .invalidNumber), ("[-x]", 2, .invalidNumber), ("1.x", 2, .invalidNumber),
        ("1e+x", 3, .invalidNumber),
        (#"["a\x"]"#, 3, .invalidEscape), (#""\u12g4""#, 1, .invalidEscape),
        (#""ab\ud800""#, 3, .loneSurrogate), (#""\udc00""#, 1, .loneSurrogate),
        ("\"a\nb\"", 2, .controlByte), ("\"a\0b\"", 2, .controlByte),
    ])
    func errorsHaveOffsetAndReason(_ text: String, _ offset: Int, _ reason: JSONError.Reason) {
        #expect(scanError(in: text) == JSONError(offset: offset, reason: reason))
    }

    @Test(arguments: [("\"ab%C3\"", 3), ("\"%FF\"", 1), ("\"%E2%82\"", 1), ("\"é%ED%A0%80\"", 3)])
    func invalidUTF8ErrorsHaveTheirOffset(_ notation: String, _ offset: Int) {
        #expect(
            scanError(in: Corpus.bytes(notation)) == JSONError(offset: offset, reason: .invalidUTF8)
        )
    }

    @Test(arguments: [0, 1, 2, 63, 64, 65, 128, 512, 1000])
    func nestingIsLimited(_ depthMax: Int) {
        func nested(_ depth: Int) -> [UInt8] {
            // Objects and arrays mixed, so that each level must be stored.
            let levels = (0..<depth).map { $0 % 3 == 0 ? ("{\"k\":", "}") : ("[", "]") }
            return Array(
                (levels.map(\.0).joined() + "1" + levels.reversed().map(\.1).joined()).utf8)
        }
        #expect(scanError(in: nested(depthMax), depthMax: depthMax) == nil)
        #expect(scanError(in: nested(depthMax + 1), depthMax: depthMax)?.reason == .tooDeep)
    }

    @Test func nestingLimitIsCapped() {
        let text = [UInt8](repeating: .init(ascii: "["), count: 5000)
        #expect(scanError(in: text, depthMax: .max) == JSONError(offset: 1024, reason: .tooDeep))
    }

    @Test func siblingContainersDoNotCountAsNesting() {
        #expect(scanError(in: "[" + String(repeating: #"[{"a":[]}],"#, count: 5000) + "0]") == nil)
    }
}
