import Testing

@testable import Gateway

/// `${...}`: where it is expanded, its value, and the errors.
@Suite struct ExpansionTests {
    let environment = ["NAME": "v", "EMPTY": "", "N": "5", "ON": "true", "BRACES": "{x}"]

    @Test(arguments: [
        ("${NAME}", "v"), ("a${NAME}b${NAME}", "avbv"), ("${MISSING:-d}", "d"),
        ("${EMPTY:-d}", "d"),
        ("${EMPTY}", ""), ("${MISSING:-}", ""), ("${MISSING:-http://h:1}", "http://h:1"),
        ("$${NAME}", "${NAME}"), ("$NAME", "$NAME"), ("${file:/s}", "secret"),
        ("${file:beside}", "two\nlines"),
    ])
    func expandsVariables(_ text: String, becomes value: String) throws {
        let config = Snippet.backend("headers: { A: \"\(text)\" }")
        let files = ["/etc/c.yaml": config, "/s": "secret\n", "/etc/beside": "two\nlines\n"]
        let outcome = load(files, main: "/etc/c.yaml", environment: environment)
        if value.contains("\n") {
            #expect(
                outcome.problems.lines.first?.contains(
                    "must be one line, without control characters") == true)
        } else {
            #expect(try #require(outcome.config).backends[0].headers[0].value.value == value)
        }
    }

    @Test(arguments: [
        (
            "${MISSING}",
            "environment variable MISSING is not set (write ${MISSING:-...} to give a default)"
        ),
        ("${NAME", "'${' is never closed"),
        (
            "${}",
            "'${}' is not a valid variable (write ${NAME}, ${NAME:-default} or ${file:/path})"
        ),
        (
            "${1A}",
            "'${1A}' is not a valid variable (write ${NAME}, ${NAME:-default} or ${file:/path})"
        ),
        ("${file:/none}", "file /none of '${file:/none}' cannot be read: there is no such file"),
    ])
    func reportsInvalidExpansion(_ text: String, words: String) {
        let config = Snippet.backend("headers: { A: \"\(text)\" }")
        #expect(problems(config, environment: environment) == ["4:19: error: \(words)"])
    }

    @Test(arguments: [(1 << 20, true), ((1 << 20) + 1, false)])
    func expandsFilesOfAtMostOneMebibyte(_ size: Int, _ isRead: Bool) {
        let files = [
            "c.yaml": Snippet.call("take: \"${file:s}\""), "s": String(repeating: "x", count: size),
        ]
        let lines = load(files).problems.lines
        let words = "file s of '${file:s}' cannot be read: it is larger than 1MiB"
        #expect(lines.contains { $0.hasSuffix("error: \(words)") } == !isRead, "\(lines)")
    }

    /// Inside of `{ }` it must be quoted, so quotes do not determine the type.
    @Test(arguments: [
        "max_concurrent: ${N}", "max_concurrent: \"${N}\"",
        "queue: { size: \"${N}\" }\nmax_concurrent: 1", "tls:",
    ])
    func typesExpandedValuesAsPlainScalars(_ lines: String) {
        let found = problems(Snippet.backend(lines), environment: environment)
        #expect(found.isEmpty == (lines != "tls:"))
    }

    @Test func readsExpandedNumberAsTextWhereTextIsExpected() {
        #expect(problems(Snippet.call("take: \"${N}\""), environment: environment) == [])
    }

    @Test func treatsBracesInExpandedValuesAsLiteralText() throws {
        let outcome = load(
            ["c.yaml": Snippet.call("headers: { A: \"${BRACES}-{id}\" }")], environment: environment
        )
        let template = try #require(outcome.config).endpoints[0].calls[0].headers[0].value.template
        #expect(template.segments.first == .literal("{x}-"))
        #expect(template.references.map(\.text) == ["id"])
    }

    @Test func keepsEscapedVariableLiteralInTemplate() throws {
        let outcome = load(["c.yaml": Snippet.call("headers: { A: \"$${NAME}{id}\" }")])
        let template = try #require(outcome.config).endpoints[0].calls[0].headers[0].value.template
        #expect(template.segments.first == .literal("${NAME}"))
    }

    @Test func neverQuotesSecrets() {
        let found = problems(Snippet.backend("max_concurrent: ${NAME}"), environment: environment)
        #expect(
            found == [
                "4:21: error: 'max_concurrent' in backend 'a' must be a whole number from 1 to 1000000"
                    + " (the value comes from '${NAME}')"
            ])
    }

    @Test func doesNotExpandKeys() {
        let found = problems("${NAME}: 1\n" + Snippet.top(""), environment: environment)
        #expect(found == ["1:1: error: unknown key '${NAME}'"])
    }
}
