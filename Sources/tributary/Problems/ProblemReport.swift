import Gateway
import YAMLReader

/// The problems of a configuration for people: each with the line of its file and a caret below the
/// source location.
struct ProblemReport {
    let problems: Problems
    let isColored: Bool
    /// The bytes of a file; nil if it cannot be read.
    let content: (String) -> [UInt8]?

    /// Empty without problems; the last line is their number.
    var text: String {
        guard !problems.isEmpty else { return "" }
        var files: [String: [ArraySlice<UInt8>]] = [:]
        var lines: [String] = []
        for problem in problems.sorted {
            lines.append(headline(of: problem))
            let location = problem.location
            guard problems.mayShowLines(of: location.file) else { continue }
            let source =
                files[location.file]
                ?? content(location.file)?.split(
                    separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) ?? []
            files[location.file] = source
            guard source.indices.contains(location.line - 1),
                let excerpt = Excerpt(of: source[location.line - 1], column: location.column)
            else { continue }
            lines += ["  " + excerpt.line, "  " + styled(excerpt.caret, "1;32")]
        }
        lines.append(problems.summary)
        return lines.map { $0 + "\n" }.joined()
    }

    private func headline(of problem: Problems.Problem) -> String {
        let severity = styled(
            "\(problem.severity.rawValue):", problem.severity == .error ? "1;31" : "1;33")
        return "\(styled("\(problem.location):", "1")) \(severity) \(problem.text)"
    }

    /// The text in a style of ECMA-48 (SGR).
    private func styled(_ text: String, _ style: String) -> String {
        isColored ? "\u{1B}[\(style)m\(text)\u{1B}[0m" : text
    }

    /// Whether an output gets colors: a terminal does, unless it has none or `NO_COLOR` is not empty.
    static func isColored(terminal: Bool, variable: (String) -> String?) -> Bool {
        terminal && variable("TERM") != "dumb" && variable("NO_COLOR") ?? "" == ""
    }
}
