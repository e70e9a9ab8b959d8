import Basics
import Testing

@testable import JSONText

/// Values for members that are missing or null.
@Suite struct DefaultsTests {
    private func applied(_ defaults: [(String, String)], to text: String) throws -> String {
        let rules = JSONDefaults(
            try defaults.map {
                (path: try JSONPath($0.0), value: try JSONSlice(validating: Bytes($0.1)))
            })
        let result = String(rules.applied(to: try JSONSlice(validating: Bytes(text))).bytes)
        _ = try JSONSlice(validating: Bytes(result))
        return result
    }

    static let cases: [([(String, String)], String, String)] = [
        ([("a", "1")], "{}", #"{"a":1}"#), ([("a", "1")], "{ }", #"{"a":1}"#),
        ([("a", "1")], #"{"a":2}"#, #"{"a":2}"#), ([("a", "1")], #"{"a":false}"#, #"{"a":false}"#),
        // A null at its position, with the bytes around it as they were.
        ([("a", "1")], #"{ "z":0, "a" : null , "b":"x" }"#, #"{ "z":0, "a" : 1 , "b":"x" }"#),
        ([("a", "1"), ("b", "[2]")], #"{ "x" : 1.0 }"#, #"{ "x" : 1.0,"a":1,"b":[2]}"#),
        // Inner paths, in objects that exist.
        ([("a.b", "1")], "{}", "{}"), ([("a.b", "1")], #"{"a":null}"#, #"{"a":null}"#),
        ([("a.b", "1")], #"{"a":[]}"#, #"{"a":[]}"#),
        ([("a.b", "1")], #"{"a":{}}"#, #"{"a":{"b":1}}"#),
        ([("a.b", "1"), ("a.c", "2")], #"{"a":{"c":null}}"#, #"{"a":{"c":2,"b":1}}"#),
        ([("a", "{}"), ("a.b", "1")], #"{"a":null}"#, #"{"a":{}}"#),
        ([("a", "{}"), ("a.b", "1")], #"{"a":{"x":0}}"#, #"{"a":{"x":0,"b":1}}"#),
        // Elements.
        (
            [("a[].b", "1")], #"{"a":[ {"b":null}, {"c":2} ,3, null,[{}]]}"#,
            #"{"a":[ {"b":1}, {"c":2,"b":1} ,3, null,[{}]]}"#
        ),
        ([("a[].b", "1")], #"{"a":[]}"#, #"{"a":[]}"#),
        ([("a[].b", "1")], #"{"a":{}}"#, #"{"a":{}}"#),
        ([("a[][].b", "1")], #"{"a":[[{}],{}]}"#, #"{"a":[[{"b":1}],{}]}"#),
        ([("[].b", "1")], #"[{}]"#, #"[{"b":1}]"#),
        // Keys are compared unescaped, and written escaped.
        ([(#""q\"""#, "1")], "{}", #"{"q\"":1}"#),
        ([("a", "1")], #"{"\u0061":null}"#, #"{"\u0061":1}"#),
        ([("a", "1")], #"{"a":null,"a":null}"#, #"{"a":1,"a":1}"#),
        ([("a", "1"), ("a", "2")], "{}", #"{"a":2}"#),
    ]

    @Test(arguments: cases) func defaultsFillOnlyWhatIsMissing(
        _ defaults: [(String, String)], _ text: String, _ result: String
    ) throws {
        #expect(try applied(defaults, to: text) == result)
    }
}
