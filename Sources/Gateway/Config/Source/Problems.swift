package import YAMLReader

/// The collected errors and warnings of a configuration, so that one run reports all of them.
package struct Problems: Sendable, Equatable {
    /// One error or warning, written as `file:line:column: error: text`.
    package struct Problem: Sendable, Hashable, CustomStringConvertible {
        package let severity: Severity
        package let location: SourceLocation
        package let text: String

        package var description: String { "\(location): \(severity.rawValue): \(text)" }
    }

    /// An error prevents the start; a warning only fails `check --strict`.
    package enum Severity: String, Sendable {
        case error, warning
    }

    private var found: [Problem] = []
    private var known: Set<Problem> = []
    private var files: [String] = []
    /// Files whose lines may be secrets: no message quotes them.
    private var secretFiles: Set<String> = []

    package init() {}

    /// One error about a file as a whole, which could not be read.
    package init(ofFile path: String, _ text: String) {
        error(at: SourceLocation(file: path), text)
    }

    package mutating func error(at location: SourceLocation, _ text: String) {
        add(Problem(severity: .error, location: location, text: text))
    }

    package mutating func warning(at location: SourceLocation, _ text: String) {
        add(Problem(severity: .warning, location: location, text: text))
    }

    /// Forbids messages to show lines of a file, such as a file of keys.
    mutating func hideLines(of file: String) { secretFiles.insert(file) }

    /// Whether messages may show lines of a file.
    package func mayShowLines(of file: String) -> Bool { !secretFiles.contains(file) }

    /// Adds a problem unless it has been reported already.
    private mutating func add(_ problem: Problem) {
        let problem = Problem(
            severity: problem.severity, location: problem.location,
            text: (problem.text + LookAlikes.note(on: problem.text)).inOneLine)
        guard known.insert(problem).inserted else { return }
        if !files.contains(problem.location.file) { files.append(problem.location.file) }
        found.append(problem)
    }

    package var errorCount: Int { found.count { $0.severity == .error } }
    package var warningCount: Int { found.count { $0.severity == .warning } }
    package var isEmpty: Bool { found.isEmpty }

    /// By location; the files in the order of their first problems.
    package var sorted: [Problem] {
        let keyed = found.enumerated().map { index, problem in
            let file = files.firstIndex(of: problem.location.file) ?? files.count
            return (
                key: (file, problem.location.line, problem.location.column, index), problem: problem
            )
        }
        return keyed.sorted { $0.key < $1.key }.map(\.problem)
    }

    /// `3 errors, 1 warning`; a count of zero is omitted.
    package var summary: String {
        [(errorCount, "error"), (warningCount, "warning")]
            .filter { count, _ in count > 0 }
            .map { count, word in "\(count) \(word)\(count == 1 ? "" : "s")" }
            .joined(separator: ", ")
    }

    /// One line for each problem, with the summary last; empty without problems.
    package var lines: [String] {
        isEmpty ? [] : sorted.map(\.description) + [summary]
    }
}
