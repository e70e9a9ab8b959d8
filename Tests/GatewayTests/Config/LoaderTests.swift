import Testing

@testable import Gateway

/// Included files, JSON files, and missing files.
@Suite struct LoaderTests {
    static let main = "version: 1\nbackends: { a: { url: http://h } }\ninclude: more/*.yaml\n"

    static func endpoint(_ name: String, key: String = "calls") -> String {
        "endpoints:\n  - route: GET /\(name)\n    \(key):\n      v: { from: a, get: /\(name) }\n"
    }

    @Test func appendsIncludedEndpointsInOrderOfFileNames() throws {
        let outcome = load(
            [
                "/etc/c.yaml": Self.main, "/etc/more/two.yaml": Self.endpoint("two"),
                "/etc/more/one.yaml": Self.endpoint("one"), "/etc/more/.hidden.yaml": "x",
                "/etc/more/x.txt": "x",
            ], main: "/etc/c.yaml")
        #expect(outcome.problems.lines == [])
        #expect(try #require(outcome.config).endpoints.map(\.title) == ["GET /one", "GET /two"])
    }

    @Test(arguments: [
        (
            Self.endpoint("two", key: "cals"),
            "more/two.yaml:3:5: error: unknown key 'cals' in endpoint 'GET /two' - did you mean 'calls'?"
        ),
        ("a: [b", "more/two.yaml:1:4: error: this [ is never closed"),
        (
            "listen: h:1",
            "more/two.yaml:1:1: error: 'listen' belongs into the main file; an included file has only endpoints and backends"
        ),
        (
            "backends: { a: { url: http://h } }",
            "more/two.yaml:1:13: error: backend 'a' is already defined at c.yaml:2:13"
        ),
        (
            Self.endpoint("one"),
            "more/two.yaml:2:12: error: route GET /one is the same as the route at more/one.yaml:2:12"
        ),
    ])
    func reportsErrorsWithTheIncludedFile(_ text: String, problem: String) {
        let outcome = load([
            "c.yaml": Self.main, "more/one.yaml": Self.endpoint("one"), "more/two.yaml": text,
        ])
        #expect(outcome.problems.lines.first == problem)
        #expect(outcome.config == nil)
    }

    @Test(arguments: [
        ("include: none/*.yaml", "1:10: warning: 'none/*.yaml' matches no file"),
        ("include: [none.yaml]", "1:11: error: there is no file 'none.yaml' to include"),
    ])
    func reportsMissingIncludedFiles(_ line: String, problem: String) {
        #expect(problems(Snippet.top(line)) == [problem])
    }

    @Test func includesEachFileOnceAndNeverItself() throws {
        let outcome = load([
            "c.yaml": Snippet.top("include: ['*.yaml', one.yaml]"),
            "one.yaml": Self.endpoint("one"),
        ])
        #expect(try #require(outcome.config).endpoints.map(\.title) == ["GET /x", "GET /one"])
    }

    @Test func reportsMissingFile() {
        let outcome = load([:], main: "not-there.yaml")
        #expect(
            outcome.problems.lines == [
                "not-there.yaml:1:1: error: there is no such file", "1 error",
            ])
    }

    static let json = """
        {
         "version": 1,
         "listen": "127.0.0.1:8082",
         "backends": {"a": {"url": "http://127.0.0.1:7001"}},
         "endpoints": [{"route": "GET /j", "calls": {"one": {"from": "a", "get": "/one", "timeout": "1s"}}}]
        }
        """

    @Test func readsTheSameConfigurationFromJSON() throws {
        #expect(problems(Self.json, file: "c.json") == [])
    }

    @Test(arguments: [
        (
            " \"version\": 1,", " \"version\": 1,\n \"version\": 1,",
            "3:2: error: duplicate key 'version', first seen in line 2"
        ),
        (
            "\"1s\"", "1",
            "5:93: error: 'timeout' in call 'one' has no unit; write it like 300ms, 2s, 5m or 1h"
        ),
        (
            "/one", "/{x}",
            "5:77: error: call 'one' uses {x}; there is no parameter 'x' (this endpoint has no parameters)"
        ),
        ("\"1s\"", "1s", "5:94: error: this is not valid JSON: a text or key needs double quotes"),
        ("\"1s\"", "'1s'", "5:93: error: this is not valid JSON: a text needs double quotes"),
        ("\"1s\"", "s", "5:93: error: this is not valid JSON: a text or key needs double quotes"),
    ])
    func reportsLocationsInJSON(_ old: String, new: String, problem: String) {
        #expect(problems(Self.json.replacing(old, with: new), file: "c.json") == [problem])
    }

    @Test(arguments: [
        ("{\"a\": 1,}", "1:9", "remove the comma before this bracket"),
        ("{\"a\": [1, ]}", "1:11", "remove the comma before this bracket"),
        ("{\"a\": 1 \"b\": 2}", "1:9", "a comma is missing before this text"),
        ("{a: 1}", "1:2", "a text or key needs double quotes"),
        ("{\"a\": 1 // one\n}", "1:9", "JSON has no comments"),
        ("{\"a\": 1,, \"b\": 2}", "1:9", "this byte is not allowed here"),
    ])
    func namesRemedyForInvalidJSON(_ text: String, location: String, remedy: String) {
        #expect(
            problems(text, file: "c.json") == [
                "\(location): error: this is not valid JSON: \(remedy)"
            ])
    }

    @Test func boundsNestingOfJSON() {
        let text = String(repeating: "[", count: 65) + String(repeating: "]", count: 65)
        #expect(problems(text, file: "c.json") == ["1:65: error: nested more than 64 levels deep"])
    }

    @Test(arguments: [
        ("*", "a.yaml", true), ("*.yaml", "a.yaml", true), ("*.yaml", "a.yml", false),
        ("a?c", "abc", true),
        ("a?c", "ac", false), ("*a*b*", "xxaxxbxx", true), ("*a*b", "ab-a", false),
        ("*", ".a", false),
        (".*", ".a", true), ("a*", "a", true), ("", "", true),
    ])
    func matchesFilePatterns(_ pattern: String, name: String, isMatch: Bool) {
        #expect(FilePattern.matches(Array(pattern), Array(name)) == isMatch)
    }
}
