import Gateway
import Testing
import YAMLReader

@testable import tributary

/// The problems of a configuration as `check` prints them.
@Suite struct ProblemReportTests {
    private func problems(
        _ texts: [String] = ["unknown key"], at location: YAMLReader.SourceLocation
    ) -> Problems {
        var problems = Problems()
        for text in texts { problems.error(at: location, text) }
        return problems
    }

    private func report(
        _ content: String?, line: Int = 1, column: Int, isColored: Bool = false
    ) -> String {
        let found = problems(
            at: YAMLReader.SourceLocation(file: "a.yaml", line: line, column: column))
        return ProblemReport(problems: found, isColored: isColored) { file in
            file == "a.yaml" ? content.map { Array($0.utf8) } : nil
        }.text
    }

    @Test func showsTheLineWithACaret() {
        #expect(
            report("version: 1\r\na: { form: b }\r\n", line: 2, column: 6) == """
                a.yaml:2:6: error: unknown key
                  a: { form: b }
                       ^
                1 error

                """)
    }

    /// A byte order mark is no column, a combining mark no width, and a tab has the width of a tab.
    @Test(arguments: [
        ("\u{FEFF}form: 1", 1, "form: 1", "^"), ("\tform: 1", 2, "\tform: 1", "\t^"),
        ("u\u{308}: form", 5, "u\u{308}: form", "   ^"), ("form", 5, "form", "    ^"),
        ("\"\u{1B}[2J\u{202E}\": 1", 8, "\"\u{FFFD}[2J\u{FFFD}\": 1", "       ^"),
    ])
    func placesTheCaretByWhatTheTerminalShows(
        _ content: String, _ column: Int, _ line: String, _ caret: String
    ) throws {
        let excerpt = try #require(Excerpt(of: Array(content.utf8), column: column))
        #expect(Array(excerpt.line.unicodeScalars) == Array(line.unicodeScalars))
        #expect(excerpt.caret == caret)
    }

    @Test(arguments: [1, 61, 62, 250, 500, 501])
    func cutsLongLinesAroundTheCaret(_ column: Int) throws {
        var content = Array(repeating: UInt8(ascii: "."), count: 500)
        if column <= 500 { content[column - 1] = UInt8(ascii: "X") }
        let excerpt = try #require(Excerpt(of: content, column: column))
        #expect(excerpt.line.count <= Excerpt.charactersMax + 6)
        if column <= 500 {
            #expect(
                excerpt.line.firstIndex(of: "X")
                    == excerpt.line.index(
                        excerpt.line.startIndex, offsetBy: excerpt.caret.count - 1))
        } else {
            #expect(excerpt.caret.count == excerpt.line.count + 1)
        }
    }

    @Test(arguments: [(nil, 1, 1), ("", 1, 1), ("a\n  \n", 2, 1), ("a", 9, 1), ("a", 1, 7)])
    func omitsALineThatCannotBeShown(_ content: String?, _ line: Int, _ column: Int) {
        #expect(
            report(content, line: line, column: column)
                == "a.yaml:\(line):\(column): error: unknown key\n1 error\n")
    }

    @Test func isEmptyWithoutProblems() {
        #expect(ProblemReport(problems: Problems(), isColored: true) { _ in nil }.text == "")
    }

    @Test func colorsSeverityAndCaret() {
        let text = report("form", column: 1, isColored: true)
        #expect(
            text == """
                \u{1B}[1ma.yaml:1:1:\u{1B}[0m \u{1B}[1;31merror:\u{1B}[0m unknown key
                  form
                  \u{1B}[1;32m^\u{1B}[0m
                1 error

                """)
    }

    @Test(
        arguments: [
            (true, [:], true), (false, [:], false), (true, ["NO_COLOR": "1"], false),
            (true, ["NO_COLOR": ""], true), (true, ["TERM": "dumb"], false),
        ] as [(Bool, [String: String], Bool)])
    func onlyTerminalsHaveColors(
        _ isTerminal: Bool, _ variables: [String: String], _ expected: Bool
    ) {
        #expect(
            ProblemReport.isColored(terminal: isTerminal) { variables[$0] } == expected)
    }

    /// https://docs.github.com/actions/reference/workflow-commands-for-github-actions
    @Test func annotationsEscapeWhatEndsThem() {
        var found = problems(
            ["'a': 50%, not\n1"],
            at: YAMLReader.SourceLocation(file: "a,b:c%\n.yaml", line: 3, column: 7))
        found.warning(at: YAMLReader.SourceLocation(file: "z.yaml"), "unused")
        #expect(
            GitHubAnnotations.text(of: found) == """
                ::error file=a%2Cb%3Ac%25%0A.yaml,line=3,col=7::'a': 50%25, not\\n1
                ::warning file=z.yaml,line=1,col=1::unused

                """)
    }
}
