import Testing
import YAMLReader

/// The tree of a document, with the source locations of its keys and texts.
@Suite struct YAMLReaderTests {
    @Test(arguments: [
        ("a: b", "{a@1:1: b@1:4}"),
        ("a: \"b\"", "{a@1:1: \"b\"@1:5}"),
        ("a:", "{a@1:1: @1:3}"),
        ("a: [b, {c: d}]", "{a@1:1: [b@1:5, {c@1:9: d@1:12}]}"),
        ("- a\n- b", "[a@1:3, b@2:3]"),
        ("a: 1\na: 2", "{a@1:1: 1@1:4, a@2:1: 2@2:4}"),
        ("---\na: b\n...\n", "{a@2:1: b@2:4}"),
        ("\u{FEFF}a: b", "{a@1:1: b@1:4}"),
        ("a: {id}", "{a@1:1: {id@1:5: @1:7}}"),
        ("a: ${X:-y}", "{a@1:1: ${X:-y}@1:4}"),
        ("a: .", "{a@1:1: .@1:4}"),
        ("{ at: ., b: 1 }", "{at@1:3: .@1:7, b@1:10: 1@1:13}"),
        ("{ url: http://x:1/y, b: 1 }", "{url@1:3: http://x:1/y@1:8, b@1:22: 1@1:25}"),
        ("ключ: b", "{ключ@1:1: b@1:7}"),
        (#"{"a":"b","c":[1]}"#, #"{a@1:2: "b"@1:7, c@1:10: [1@1:15]}"#),
    ])
    func readsDocument(_ text: String, becomes expected: String) {
        #expect(outline(of: text) == expected)
    }

    @Test(arguments: [
        (#"a: "x\ty""#, #"{a@1:1: "x\ty"}"#),
        ("a: 'it''s'", "{a@1:1: \"it\\'s\"}"),
        ("a: |\n  x\n  y", #"{a@1:1: "x\ny"}"#),
        ("a: x\n  y", "{a@1:1: x y}"),
    ])
    func changedTextHasNoTextStart(_ text: String, becomes expected: String) {
        #expect(outline(of: text) == expected)
    }

    @Test(arguments: [64, 65])
    func depthIsBounded(_ depth: Int) {
        let text = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        let isRefused = outline(of: text) == "1:65 nested more than 64 levels deep"
        #expect(isRefused == (depth > YAMLDocument.depthMax))
    }

    @Test func hugeDepthCostsNoStack() {
        let text = String(repeating: "[", count: 1_000_000)
        #expect(outline(of: text) == "1:65 nested more than 64 levels deep")
    }

    @Test func invalidUTF8IsRefused() {
        #expect(throws: DocumentProblem.self) {
            try YAMLDocument.read([0x61, 0x3A, 0x20, 0xFF], file: "f")
        }
    }
}
