import Basics
import Testing

@testable import JSONText

struct ShapeTests {
    struct Rules: Sendable, CustomTestStringConvertible {
        var take: String?
        var keep: [String]?
        var drop: [String] = []
        var rename: [(String, String)] = []
        var usesCamelCase = false
        var testDescription: String {
            "take \(take ?? "-") keep \(keep ?? []) drop \(drop) rename \(rename) \(usesCamelCase ? "camel" : "")"
        }

        var shape: JSONShape {
            get throws {
                try JSONShape(
                    take: take.map { try JSONPath($0) }, keep: keep?.map { try JSONPath($0) },
                    drop: drop.map { try JSONPath($0) },
                    rename: rename.map { .init(try JSONPath($0.0), to: $0.1) },
                    usesCamelCase: usesCamelCase)
            }
        }
    }

    private func shaped(
        _ rules: Rules, _ text: String, dropping keys: [String] = []
    ) throws -> String {
        var dropped: [String] = []
        let result = try rules.shape.applied(to: slice(text), reporting: &dropped)
        #expect(dropped == keys)
        #expect(scanError(in: result.bytes.array) == nil, "a shape must leave JSON")
        return result.string
    }

    @Test func takesThenKeepsThenDropsThenRenames() throws {
        let rules = Rules(
            take: "data", keep: ["items[].id", "items[].price", "items[].name", "info.city"],
            drop: ["items[].name"], rename: [("items[].price", "name"), ("info", "offset")])
        let text =
            #"{"meta":1,"data":{"info":{"city":"Lyon","zip":"69"},"items":[{"id":1,"name":"A","price":19.90,"x":0},{"price":1e400,"id":9007199254740993},{"id":3,"name":"C"}],"total":3}}"#
        let left =
            #"{"offset":{"city":"Lyon"},"items":[{"id":1,"name":19.90},{"name":1e400,"id":9007199254740993},{"id":3}]}"#
        #expect(try shaped(rules, text) == left)
    }

    static let possible: [(Rules, String, Bool)] = [
        (Rules(), "a", true),
        (Rules(keep: []), "a", false),
        (Rules(keep: ["a"]), "a.b[0]", true), (Rules(keep: ["a"]), "b", false),
        (Rules(keep: ["a.b"]), "a", true), (Rules(keep: ["a.b"]), "a.b.c", true),
        (Rules(keep: ["a.b"]), "a.c", false), (Rules(keep: ["a.b"]), "a[0]", false),
        (Rules(keep: ["items[].id"]), "items[3].id", true),
        (Rules(keep: ["items[].id"]), "items[3].name", false),
        (Rules(keep: ["items[].id"]), "items.id", false),
        (Rules(keep: ["items[2].id"]), "items[0].id", true),
        (Rules(keep: ["items[2].id"]), "items[0].name", false),
        (Rules(keep: ["items[2].id"]), "items[1].id", false),
        (Rules(keep: ["a[0]"]), "a[0].b", true), (Rules(keep: ["a[0]"]), "a[1].b", false),
        (Rules(keep: ["a[5]", "a[3].b", "a[1]"]), "a[1].b", true),
        (Rules(keep: ["a[5]", "a[3].b", "a[1]"]), "a[1].c", true),
        (Rules(keep: ["a[5]", "a[3].b", "a[1]"]), "a[2].c", true),
        (Rules(keep: ["a[5]", "a[3].b", "a[1]"]), "a[3].c", false),
        (Rules(keep: ["a[5].c", "a[3]", "a[1]"]), "a[1].c", true),
        (Rules(keep: ["a[5].c", "a[3].b", "a[1]"]), "a[0].b", true),
        (Rules(keep: ["a[5].c", "a[3].b", "a[1].b"]), "a[2].b", false),
        (Rules(keep: ["a[].b", "a[1].c"]), "a[0].c", true),
        (Rules(keep: ["a[].b", "a[1].c"]), "a[2].b", true),
        (Rules(keep: ["a[].b", "a[1].c"]), "a[2].c", false),
        (Rules(keep: ["a[].b", "a[1].c"]), "a[0].d", false),
        (Rules(drop: ["a"]), "a", false), (Rules(drop: ["a"]), "a.b", false),
        (Rules(drop: ["a"]), "b", true), (Rules(drop: ["a.b"]), "a", true),
        (Rules(drop: ["a[].b"]), "a[1].b", false), (Rules(drop: ["a[].b"]), "a[1].c", true),
        (Rules(drop: ["a[0]"]), "a[0]", true), (Rules(drop: ["a[]", "a[0].b"]), "a[0]", false),
        (Rules(drop: ["a[0].b"]), "a[0].b", false), (Rules(drop: ["a[0].b"]), "a[0].c", true),
        (Rules(drop: ["a[0].b"]), "a[1].b", true), (Rules(drop: ["a[0].b"]), "a[0]", true),
        (Rules(drop: ["a[0]", "a[1].b"]), "a[0].b", false),
        (Rules(drop: ["a[0]", "a[1].b"]), "a[1].b", true),
        (Rules(drop: ["a[0].b", "a[].c"]), "a[0].b", false),
        (Rules(drop: ["a[0].b", "a[].c"]), "a[0].c", false),
        (Rules(drop: ["a[0].b", "a[].c"]), "a[7].c", false),
        (Rules(drop: ["a[0].b", "a[].c"]), "a[7].b", true),
        (Rules(keep: ["a[]"], drop: ["a[0].b"]), "a[0].b", false),
        (Rules(keep: ["a[]"], drop: ["a[0].b"]), "a[1].b", true),
        (Rules(drop: ["[0].b"]), "[0].b", false), (Rules(drop: ["[0].b"]), "[1].b", true),
        (Rules(drop: ["a[999999999].b"]), "a[999999999].b", false),
        (Rules(rename: [("a", "b")]), "a", false), (Rules(rename: [("a", "b")]), "b.x", true),
        (Rules(rename: [("a", "b"), ("b", "a")]), "a", true),
        (Rules(rename: [("a[0].x", "y")]), "a[0].x", false),
        (Rules(rename: [("a[0].x", "y")]), "a[0].y", true),
        (Rules(rename: [("a[0].x", "y")]), "a[1].x", true),
        (Rules(rename: [("a.x", "y")]), "a.x", false), (Rules(rename: [("a.x", "y")]), "a.y", true),
        (Rules(keep: ["a"], rename: [("a", "b")]), "b", true),
        (Rules(keep: ["a"], rename: [("a", "b")]), "a", false),
        (Rules(keep: ["a"], drop: ["a"]), "a", false),
        (Rules(take: "items[].id"), "a", false), (Rules(take: "items[].id"), "[0].a", true),
        (Rules(take: "a", keep: ["b"]), "b", true), (Rules(take: "a", keep: ["b"]), "a", false),
        (Rules(usesCamelCase: true), "aB[0].cD", true),
        (Rules(usesCamelCase: true), "a_b", false),
        (Rules(usesCamelCase: true), "aB[0].c_d", false),
        (Rules(keep: ["a_b"], usesCamelCase: true), "aB.c", true),
        (Rules(keep: ["a_b"], usesCamelCase: true), "a_b", false),
        (Rules(keep: ["a_b"], usesCamelCase: true), "c", false),
        (Rules(rename: [("a_b", "c_d")], usesCamelCase: true), "c_d.e", true),
        (Rules(rename: [("a_b", "c_d")], usesCamelCase: true), "c_d.e_f", false),
        (Rules(drop: ["a_b.c_d"], usesCamelCase: true), "aB.e", true),
    ]

    @Test(arguments: possible)
    func knowsWhichPathsNeverExist(_ rules: Rules, _ path: String, _ expected: Bool) throws {
        #expect(try rules.shape.canHave(JSONPath(path)) == expected)
    }

    @Test func identitySharesTheBytes() throws {
        let shape = try JSONShape()
        let text = try slice(" [1 , 2] ")
        #expect(shape.isIdentity)
        var dropped: [String] = []
        #expect(try shape.applied(to: text, reporting: &dropped) == text)
    }

    @Test(arguments: [
        (#"{"a":{"b":[1.0,2]}}"#, "[1.0,2]"), (#"{"a":{"b":null}}"#, "null"),
        (#"{"a":1,"a":{"b":1,"b" : [ 2 ]}}"#, "[ 2 ]"),
    ])
    func takeGivesThePart(_ text: String, _ part: String) throws {
        #expect(try shaped(Rules(take: "a.b"), text) == part)
    }

    @Test(arguments: [#"{"a":{}}"#, #"{"a":1}"#, #""a""#, "[]", #"{"b":1}"#, "null"])
    func takeOfAMissingPathIsInvalid(_ text: String) throws {
        #expect(throws: InvalidShape()) { try shaped(Rules(take: "a.b"), text) }
    }

    @Test func pluralTakeCollectsAllParts() throws {
        let text = #"{"a":[{"b":[1, 2]},{"b":[]},{"b":[3.0]}]}"#
        #expect(try shaped(Rules(take: "a[].b"), text) == "[[1, 2],[],[3.0]]")
        #expect(try shaped(Rules(take: "a[].b[]"), text) == "[1,2,3.0]")
        #expect(throws: InvalidShape()) { try shaped(Rules(take: "a[].c"), text) }
        #expect(throws: InvalidShape()) { try shaped(Rules(take: "a.b[]"), text) }
        #expect(try shaped(Rules(take: "[].id"), "[]") == "[]")
    }

    @Test(arguments: [
        (["a"], #"{"b":1, "a" : [ 1 ] , "c":2}"#, #"{"a":[ 1 ]}"#),
        (["a", "c"], #"{"c":1,"b":0,"a":2}"#, #"{"c":1,"a":2}"#),
        (["a.b"], #"{"a":{"b":1,"c":2},"d":3}"#, #"{"a":{"b":1}}"#),
        (["a.b", "a"], #"{"a":{"b":1,"c":2},"d":3}"#, #"{"a":{"b":1,"c":2}}"#),
        (["a.b"], #"{"a":{"c":2}}"#, #"{"a":{}}"#),
        (["a.b"], #"{"a":5}"#, "{}"),
        (["a.b"], #"{"a":[{"b":1}]}"#, "{}"),
        (["a[].b"], #"{"a":{"b":1}}"#, "{}"),
        (["a[].b"], #"{"a":[{"b":1,"c":2},7,{"c":3}]}"#, #"{"a":[{"b":1},{}]}"#),
        (["[].id"], #"[{"id":1,"x":0},{"id":2}]"#, #"[{"id":1},{"id":2}]"#),
        (["[0]", "[].id"], #"[{"id":1,"x":0},{"id":2,"x":0}]"#, #"[{"id":1,"x":0},{"id":2}]"#),
        (["[][].a"], #"[[{"a":1,"b":2}],[]]"#, #"[[{"a":1}],[]]"#),
        (["a"], "[1]", "null"), (["a"], "null", "null"), (["a"], "{}", "{}"),
        (["[].a"], "{}", "null"),
        ([], #"{"a":1}"#, "null"),
        (["a"], #"{"\u0061":1,"b":2}"#, #"{"\u0061":1}"#),
    ])
    func keepRemovesEverythingElse(_ keep: [String], _ text: String, _ left: String) throws {
        #expect(try shaped(Rules(keep: keep), text) == left)
    }

    @Test(arguments: [
        (["a"], #"{"a":1}"#, "{}"),
        (["a"], #"{"a":1,"b":1.0,"\u0061":2}"#, #"{"b":1.0}"#),
        (["a.b"], #"{"a":{"b":1,"c":2},"d":{ "x" : 3 }}"#, #"{"a":{"c":2},"d":{ "x" : 3 }}"#),
        (["a.b"], #"{"a":5}"#, #"{"a":5}"#),
        (["[].x"], #"[{"x":1},5,[{"x":1}],{"y":{"x":2}}]"#, #"[{},5,[{"x":1}],{"y":{"x":2}}]"#),
        (["[1]"], "[0,1,2]", "[0,2]"), (["[]"], "[0,1,2]", "[]"),
        (["[0]", "[2]"], "[0,1,2]", "[1]"),
        (["a"], "[1]", "[1]"), (["a"], "null", "null"),
    ])
    func dropKeepsEverythingElse(_ drop: [String], _ text: String, _ left: String) throws {
        #expect(try shaped(Rules(drop: drop), text) == left)
    }

    @Test(arguments: [
        ([("a", "b")], #"{"a":1,"c":2}"#, #"{"b":1,"c":2}"#),
        ([("a", "b")], #"{"b":0,"a":1}"#, #"{"b":1}"#),
        ([("a", "b")], #"{"a":1,"b":0,"\u0062":2}"#, #"{"b":1}"#),
        ([("a", "b")], #"{"b":0}"#, #"{"b":0}"#),
        ([("a", "b"), ("b", "a")], #"{"a":1,"b":2}"#, #"{"b":1,"a":2}"#),
        ([("a", "x"), ("a.b", "y")], #"{"a":{"b":1}}"#, #"{"x":{"y":1}}"#),
        ([("[].a", "q\"\n")], #"[{"a":1}]"#, #"[{"q\"\n":1}]"#),
        ([("a", "a")], #"{"a":1}"#, #"{"a":1}"#),
        ([("a", "b")], "7", "7"),
    ])
    func renames(_ rename: [(String, String)], _ text: String, _ left: String) throws {
        #expect(try shaped(Rules(rename: rename), text) == left)
    }

    @Test func theLastOfEqualKeysIsKeptAndRenamed() throws {
        let text = #"{"a":1,"x":0,"\u0061":2,"b":3,"a":4,"b":5}"#
        #expect(try shaped(Rules(keep: ["a", "b"]), text) == #"{"a":4,"b":5}"#)
        #expect(try shaped(Rules(rename: [("a", "c")]), text) == #"{"x":0,"b":3,"c":4,"b":5}"#)
        #expect(try shaped(Rules(keep: ["a.b"]), #"{"a":{"b":1},"a":2}"#) == "{}")
    }

    @Test func keptPartsAreCopiedUnchanged() throws {
        let raw =
            #"{"n":1e400,"p":19.90,"i":9007199254740993,"z":-0.0,"e":"\u003cb\u003e\/\n\ud83d\ude00","u":"é😀","secret":{"a":[1]},"dup":1,"\u0064up2":2,"list":[1E5,[],{},"",true,false,null]}"#
        let cut = raw.replacing(#""secret":{"a":[1]},"#, with: "")
        #expect(try shaped(Rules(drop: ["secret"]), raw) == cut)
        #expect(try shaped(Rules(drop: ["nothing.such"]), raw) == raw)
    }

    @Test func renamingAnElementIsRefused() throws {
        let path = try JSONPath("a[0]")
        #expect(throws: JSONShapeError.renamesElement(path)) {
            try Rules(rename: [("a[0]", "b")]).shape
        }
    }

    @Test func twoMembersWithOneNewNameAreRefused() {
        #expect(throws: JSONShapeError.sameName("c")) {
            try Rules(rename: [("a", "c"), ("b", "c")]).shape
        }
    }

    /// Time is linear in the number of bytes, whatever the keys of a response.
    @Test func manyEqualKeysCostLinearTime() throws {
        let members = (0..<40_000).map { $0 % 2 == 0 ? "\"a\":\($0)" : "\"b\":\($0)" }
        let text = "{" + members.joined(separator: ",") + "}"
        #expect(try shaped(Rules(keep: ["a", "b"]), text) == #"{"a":39998,"b":39999}"#)
        #expect(try shaped(Rules(rename: [("a", "b")]), text) == #"{"b":39998}"#)
    }
}
