import Basics
import Testing

@testable import JSONText

struct DocumentTests {
    /// A node as text, with the bytes that its range covers for scalars.
    private func outline(_ node: JSONDocument.Node, _ text: Bytes) -> String {
        let written = String(text[node.range])
        switch node.content {
        case .object(let members):
            return "{"
                + members.map {
                    "\($0.key)=\(String(text[$0.keyRange])):\(outline($0.value, text))"
                }.joined(separator: " ") + "}"
        case .array(let elements):
            return "[" + elements.map { outline($0, text) }.joined(separator: " ") + "]"
        case .string(let string): return "s(\(string))\(written)"
        case .number(let number): return "n(\(number))\(written)"
        case .boolean(let boolean): return "b(\(boolean))\(written)"
        case .null: return "null(\(written))"
        }
    }

    @Test(arguments: [
        (" 1.50 ", "n(1.50)1.50"), ("{}", "{}"), ("[ ]", "[]"),
        ("[[],[{}],null]", "[[] [{}] null(null)]"),
        (
            #"{"a": {"b":[1, "x\n"]}, "\u0061" : true,"a":false}"#,
            "{a=\"a\":{b=\"b\":[n(1)1 s(x\n)\"x\\n\"]} a=\"\\u0061\":b(true)true a=\"a\":b(false)false}"
        ),
    ])
    func readsValuesWithRanges(_ json: String, _ expected: String) throws {
        let document = try JSONDocument(Bytes(json))
        #expect(outline(document.root, document.text) == expected)
    }

    @Test func rangesOfContainersCoverThem() throws {
        let document = try JSONDocument(Bytes(#"  {"a": [1, 2] } "#))
        #expect(document.root.range == 2..<16)
        guard case .object(let members) = document.root.content else {
            Issue.record("not an object: \(document.root.content)")
            return
        }
        #expect(members[0].keyRange == 3..<6 && members[0].value.range == 8..<14)
    }

    @Test func readsTheDeepestText() throws {
        let text = String(repeating: "[", count: 512) + String(repeating: "]", count: 512)
        #expect(try JSONDocument(Bytes(text)).root.range == 0..<1024)
    }

    @Test func refusesInvalidJSON() {
        #expect(throws: JSONError(offset: 6, reason: .unexpectedByte)) {
            try JSONDocument(Bytes("{\"a\":\n}"))
        }
    }

    @Test(arguments: [
        (0, 1, 1), (1, 1, 2), (3, 1, 3), (4, 1, 4), (5, 2, 1), (6, 2, 2), (7, 3, 1), (99, 3, 2),
    ])
    func countsLinesAndCharacters(_ offset: Int, _ line: Int, _ column: Int) {
        let text = Bytes("aé1\nb\nc")
        var position = TextPosition()
        position.advance(to: offset, in: text.span)
        #expect(position.line == line && position.column == column)
        // The same in steps: nothing is counted twice.
        var byStep = TextPosition()
        for step in 0...offset { byStep.advance(to: step, in: text.span) }
        #expect(byStep == position)
    }
}
