import Basics
import Testing

@testable import JSONText

struct PathTests {
    @Test(arguments: [
        ("a", [JSONPath.Step.key(Bytes("a"))]),
        ("a.b", [.key(Bytes("a")), .key(Bytes("b"))]),
        ("items[].price", [.key(Bytes("items")), .everyElement, .key(Bytes("price"))]),
        ("[].id", [.everyElement, .key(Bytes("id"))]),
        ("items[12][0]", [.key(Bytes("items")), .element(12), .element(0)]),
        (#""a.b[]"."c\"\u0064""#, [.key(Bytes("a.b[]")), .key(Bytes("c\"d"))]),
        (#""""#, [.key(Bytes(""))]),
        ("été.a b-c_d", [.key(Bytes("été")), .key(Bytes("a b-c_d"))]),
    ])
    func compiles(_ text: String, _ steps: [JSONPath.Step]) throws {
        #expect(try JSONPath(text).steps == steps)
    }

    @Test(arguments: [
        ("", 0, JSONPathError.Reason.empty), (".", 0, .missingKey), ("a.", 2, .missingKey),
        ("a..b", 2, .missingKey), (".a", 0, .missingKey), ("a[", 2, .invalidIndex),
        ("a[x]", 2, .invalidIndex),
        ("a[-1]", 2, .invalidIndex), ("a[01]", 3, .invalidIndex),
        ("a[1234567890]", 11, .invalidIndex),
        ("a]", 1, .unexpectedByte), ("a[]b", 3, .unexpectedByte), ("a\"b", 1, .unexpectedByte),
        ("\"a\"b", 3, .unexpectedByte), ("\"a", 0, .invalidQuotedKey),
        (#"a."\x""#, 2, .invalidQuotedKey),
    ])
    func refuses(_ text: String, _ offset: Int, _ reason: JSONPathError.Reason) {
        #expect(throws: JSONPathError(offset: offset, reason: reason)) { try JSONPath(text) }
    }

    @Test func refusesPathsDeeperThanAnyText() {
        let text = "a" + String(repeating: "[0]", count: 512)
        #expect(throws: JSONPathError(offset: 1534, reason: .tooLong)) { try JSONPath(text) }
    }

    static let text =
        #" { "a" : {"b":[1.0 , {"id": 1e400 }, [ "x" ]], "":0}, "d":1, "\u0064":2, "d": {"\ud83d\ude00": null}, "🍋": "s" } "#

    @Test(arguments: [
        ("a.b[0]", "1.0"), ("a.b[1].id", "1e400"), ("a.b[2]", #"[ "x" ]"#), ("a.b[2][0]", #""x""#),
        (#"a."""#, "0"), ("d", #"{"\ud83d\ude00": null}"#), ("d.😀", "null"), ("🍋", #""s""#),
    ])
    func findsValues(_ path: String, _ found: String) throws {
        #expect(try slice(Self.text).value(at: JSONPath(path))?.string == found)
    }

    @Test(arguments: ["b", "a.c", "a.b[3]", "a[0]", "a.b.c", "d[0]", "🍋.x", "a.b[]", "[0]"])
    func missingPathsFindNothing(_ path: String) throws {
        #expect(try slice(Self.text).value(at: JSONPath(path)) == nil)
    }

    @Test func theLastOfEqualKeysCounts() throws {
        let text = try slice(#"{"a":1,"\u0061":{"x":2},"\u0061\u0061":3,"a\\":4}"#)
        #expect(try text.value(at: JSONPath("a"))?.string == #"{"x":2}"#)
        #expect(try text.value(at: JSONPath("a.x"))?.string == "2")
        #expect(try text.value(at: JSONPath(#""a\\""#))?.string == "4")
    }

    @Test func anEscapedKeyDoesNotMatchItsNotation() throws {
        let text = try slice(#"{"\u0061":1}"#)
        #expect(try text.value(at: JSONPath(#""\\u0061""#)) == nil)
    }
}
