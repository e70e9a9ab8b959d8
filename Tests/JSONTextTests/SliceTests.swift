import Basics
import JSONText
import Testing

struct SliceTests {
    @Test(arguments: [
        (" {} ", JSONSlice.Kind.object), ("[1]", .array), ("\"a\"", .string), ("-1", .number),
        ("true", .boolean), ("false", .boolean), ("\tnull\r\n", .null),
    ])
    func kindFollowsTheFirstByte(_ text: String, _ kind: JSONSlice.Kind) throws {
        #expect(try slice(text).kind == kind)
    }

    @Test(arguments: [" [1] ", "\n\t\r [1]", "[1]"])
    func trimsWhiteSpaceAroundTheValue(_ text: String) throws {
        #expect(try slice(text).string == "[1]")
    }

    @Test(arguments: [
        (#""""#, ""), (#""a\u0062\n\/\\\"""#, "ab\n/\\\""), (#""\b\f\r\t""#, "\u{8}\u{c}\r\t"),
        (#""\ud83d\ude00\u20AC\u00e9""#, "😀€é"), (#""é😀""#, "é😀"), (#""\u0000""#, "\0"),
        ("1.50", "1.50"), ("9007199254740993", "9007199254740993"), ("true", "true"),
        ("false", "false"),
    ])
    func scalarsHaveText(_ json: String, _ text: String) throws {
        #expect(try slice(json).text == Bytes(text))
    }

    @Test(arguments: ["null", "{}", "[\"a\"]"])
    func otherKindsHaveNoText(_ json: String) throws {
        #expect(try slice(json).text == nil)
    }

    @Test func membersComeInOrderAsWritten() throws {
        let members = try slice(#" { "a" : 1 , "\u0061":{"x":[]}, "":"," ,"c":[1,{"}":2}] } "#)
            .members
        #expect(members.map { String($0.key.raw) } == ["a", #"\u0061"#, "", "c"])
        #expect(members.map { $0.value.string } == ["1", #"{"x":[]}"#, "\",\"", #"[1,{"}":2}]"#])
        #expect(members.map { $0.key.means(Bytes("a")) } == [true, true, false, false])
    }

    @Test func elementsComeInOrder() throws {
        let elements = try slice(#"[ 1e5, "]" ,[[]], {"a":"\\"}, null,true]"#).elements
        #expect(elements.map(\.string) == ["1e5", "\"]\"", "[[]]", #"{"a":"\\"}"#, "null", "true"])
    }

    @Test(arguments: ["{}", "[]", "1", "{ }", "[ ]", "\"[1]\""])
    func emptyAndOtherKindsHaveNoMembers(_ json: String) throws {
        #expect(try Array(slice(json).members).isEmpty && Array(slice(json).elements).isEmpty)
    }

    /// Strings, escapes and brackets at every offset of the blocks in which containers are skipped.
    @Test(arguments: ["\\\\", "\\\"", "]", "}", "{[", "\\\\\\\"", "Yy\u{7f}", "é\\u00e9", ""])
    func containersAreSkippedAtEveryOffset(_ inside: String) throws {
        for padding in 0..<140 {
            let text = String(repeating: "x", count: padding) + inside
            let container = "[{\"k\":[\"\(text)\",\"\(inside)\",[],{}]},\"\(text)\"]"
            let members = try slice("{\"a\":\(container),\"b\":\(container)}").members
            #expect(members.map { $0.value.string } == [container, container])
        }
    }

    @Test func borrowedBytesAreCheckedAndTheirValueIsCopied() throws {
        let text = Array(" [1] ".utf8)
        #expect(try JSONSlice(copying: text.span).string == "[1]")
        #expect(try JSONSlice.range(in: text.span) == 1..<4)
    }
}
