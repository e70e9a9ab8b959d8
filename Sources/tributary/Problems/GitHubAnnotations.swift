import Gateway
import YAMLReader

/// The problems of a configuration as workflow commands, which GitHub shows beside the lines of a pull
/// request: `::error file=my.yaml,line=9,col=5::text`.
enum GitHubAnnotations {
    static func text(of problems: Problems) -> String {
        problems.sorted.map { problem in
            let location = problem.location
            return "::\(problem.severity.rawValue) file=\(property(location.file)),"
                + "line=\(location.line),col=\(location.column)::\(data(problem.text))\n"
        }.joined()
    }

    /// The text behind the second `::`.
    private static func data(_ text: String) -> String {
        text.replacing("%", with: "%25").replacing("\r", with: "%0D").replacing("\n", with: "%0A")
    }

    /// The value of a property, which ends at a comma.
    private static func property(_ text: String) -> String {
        data(text).replacing(":", with: "%3A").replacing(",", with: "%2C")
    }
}
