import Basics
import Testing

@testable import JSONText

/// `rename: { "*": camel }`
struct CamelCaseTests {
    private func shaped(
        _ text: String, keep: [String]? = nil, drop: [String] = [],
        rename: [(String, String)] = []
    ) throws -> (text: String, dropped: [String]) {
        let shape = try JSONShape(
            keep: keep?.map { try JSONPath($0) }, drop: drop.map { try JSONPath($0) },
            rename: rename.map { .init(try JSONPath($0.0), to: $0.1) }, usesCamelCase: true)
        var dropped: [String] = []
        let result = try shape.applied(to: slice(text), reporting: &dropped)
        #expect(scanError(in: result.bytes.array) == nil, "a shape must leave JSON")
        return (result.string, dropped)
    }

    @Test(arguments: [
        ("first_name", "firstName"), ("a_b_c", "aBC"), ("a1_2b", "a12b"), ("A_b", "AB"),
        ("HTTP_STATUS", "HTTPSTATUS"),
        // Leading, trailing and double underscores, and those beside other characters.
        ("_id", "_id"), ("id_", "id_"), ("a__b", "a__b"), ("_a_b_", "_aB_"), ("a_-b", "a_-b"),
        ("a_é", "a_é"), ("é_a", "é_a"), ("_", "_"), ("", ""), ("firstName", "firstName"),
    ])
    func changesNames(_ name: String, _ changed: String) throws {
        #expect(try shaped(#"{"\#(name)":1}"#).text == #"{"\#(changed)":1}"#)
    }

    @Test func changesAllLevelsAndNoValue() throws {
        let text =
            #" { "a_b" : [ { "c_d" : "x_y" } , [ { "e_f" : { } } ] , 1.0 ] , "g_h" : null } "#
        let result = #"{"aB":[{"cD":"x_y"},[{"eF":{}}],1.0],"gH":null}"#
        #expect(try shaped(text) == (result, []))
    }

    /// A changed key is written anew, with the escapes that it needs.
    @Test func comparesAndChangesKeysUnescaped() throws {
        let text = #"{"a\u005fb\"":1,"\u0061b":2,"ab":3}"#
        #expect(try shaped(text) == (#"{"aB\"":1,"\u0061b":2,"ab":3}"#, []))
    }

    @Test(arguments: [
        // The one that is spelled so stays, wherever it is.
        (#"{"a_b":1,"aB":2}"#, #"{"aB":2}"#, ["a_b"]),
        (#"{"aB":1,"a_b":2}"#, #"{"aB":1}"#, ["a_b"]),
        (#"{"a_b":1,"\u0061B":2}"#, #"{"\u0061B":2}"#, ["a_b"]),
        // Else the first.
        (#"{"a_bC":1,"aB_c":2,"x":3}"#, #"{"aBC":1,"x":3}"#, ["aB_c"]),
        (#"{"a_b":1,"a_b":2}"#, #"{"aB":1}"#, ["a_b"]),
        // Each object for itself; each key is reported once.
        (
            #"[{"a_b":1,"aB":2},{"a_b":3},{"a_b":4,"aB":5}]"#, #"[{"aB":2},{"aB":3},{"aB":5}]"#,
            ["a_b"]
        ),
        // Keys that were equal before are no matter of the case.
        (#"{"ab":1,"ab":2,"c_d":3}"#, #"{"ab":1,"ab":2,"cD":3}"#, []),
    ])
    func dropsKeysThatBecomeEqual(
        _ text: String, _ result: String, _ dropped: [String]
    ) throws {
        #expect(try shaped(text) == (result, dropped))
    }

    @Test func namesInRenameAreFinal() throws {
        let rename = [("a_b", "x_y"), ("c_d.e_f", "g_h")]
        let text = #"{"a_b":{"i_j":1},"c_d":{"e_f":2,"k_l":3}}"#
        let result = #"{"x_y":{"iJ":1},"cD":{"g_h":2,"kL":3}}"#
        #expect(try shaped(text, rename: rename) == (result, []))
        // They win over others, of which only a changed one is reported.
        #expect(
            try shaped(#"{"aB":1,"x":2,"a_b":3}"#, rename: [("x", "aB")]) == (#"{"aB":2}"#, ["a_b"])
        )
        #expect(try shaped(#"{"x":1,"x":2,"aB":3}"#, rename: [("x", "aB")]) == (#"{"aB":2}"#, []))
    }

    @Test func pathsNameKeysOfTheSource() throws {
        let text = #"{"a_b":{"c_d":1,"e_f":2},"g_h":3,"aB":4}"#
        #expect(try shaped(text, keep: ["a_b.c_d"]) == (#"{"aB":{"cD":1}}"#, []))
        #expect(try shaped(text, drop: ["a_b.c_d", "aB"]) == (#"{"aB":{"eF":2},"gH":3}"#, []))
        #expect(try shaped(#"[{"a_b":1}]"#, keep: ["[].aB"]) == ("[{}]", []))
    }

    /// A backend chooses keys, depth and repetitions.
    @Test func isBounded() throws {
        let depth = JSONSlice.depthMax / 2 - 1
        let nested =
            String(repeating: #"{"a_b":["#, count: depth) + String(repeating: "]}", count: depth)
        #expect(try shaped(nested).text == nested.replacing("a_b", with: "aB"))
        let members = (0..<20_000).map { #""a_\#($0)":1,"a\#($0)":2"# }.joined(separator: ",")
        let (text, dropped) = try shaped("{" + members + "}")
        #expect(text.count < members.count && dropped.count == 16)
        #expect(dropped == (0..<16).map { "a_\($0)" }, "in the order of the text")
        // An object in the object that is dropped, and beside it.
        let inner = #"{"a_b":1,"aB":2,"c":3}"#
        #expect(
            try shaped(#"{"x_y":\#(inner),"xY":\#(inner),"z":[\#(inner)]}"#).text
                == #"{"xY":{"aB":2,"c":3},"z":[{"aB":2,"c":3}]}"#)
        #expect(try shaped(#"{"aB":1,"a_b":2,"a_b":3,"c":4}"#).text == #"{"aB":1,"c":4}"#)
        #expect(try shaped(#"{"a_b":1,"a_b":2,"aB":3}"#).text == #"{"aB":3}"#)
        // Every level has a member that is dropped.
        let levels = 400
        let deep =
            String(repeating: #"{"a_b":1,"aB":2,"x":"#, count: levels)
            + "\"\(String(repeating: "y", count: 200_000))\""
            + String(repeating: "}", count: levels)
        #expect(try shaped(deep).text == deep.replacing(#""a_b":1,"#, with: ""))
    }
}
