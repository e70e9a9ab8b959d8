package import YAMLReader

/// Everything that is wrong with a configuration, collected, so that one run tells it all.
package struct Problems: Sendable, Equatable {
    /// One finding, as `file:line:column: error: text`.
    package struct Problem: Sendable, Hashable, CustomStringConvertible {
        package let severity: Severity
        package let location: SourceLocation
        package let text: String

        package var description: String { "\(location): \(severity.rawValue): \(text)" }
    }

    /// An error stops the start; a warning does not, unless `--strict` is given.
    package enum Severity: String, Sendable {
        case error, warning
    }

    private var found: [Problem] = []
    private var known: Set<Problem> = []
    private var files: [String] = []

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

    /// The same thing found on two ways is told once.
    private mutating func add(_ problem: Problem) {
        let problem = Problem(
            severity: problem.severity, location: problem.location,
            text: problem.text + LookAlikes.note(on: problem.text))
        guard known.insert(problem).inserted else { return }
        if !files.contains(problem.location.file) { files.append(problem.location.file) }
        found.append(problem)
    }

    package var errorCount: Int { found.count { $0.severity == .error } }
    package var warningCount: Int { found.count { $0.severity == .warning } }
    package var isEmpty: Bool { found.isEmpty }

    /// By place; the files in the order in which they first had a problem.
    package var sorted: [Problem] {
        let keyed = found.enumerated().map { index, problem in
            let file = files.firstIndex(of: problem.location.file) ?? files.count
            return (
                key: (file, problem.location.line, problem.location.column, index), problem: problem
            )
        }
        return keyed.sorted { $0.key < $1.key }.map(\.problem)
    }

    /// `3 errors, 1 warning`; what there is none of is left out.
    package var summary: String {
        [(errorCount, "error"), (warningCount, "warning")]
            .filter { count, _ in count > 0 }
            .map { count, word in "\(count) \(word)\(count == 1 ? "" : "s")" }
            .joined(separator: ", ")
    }

    /// The lines that `check` prints, the summary last; none if there is no problem.
    package var lines: [String] {
        isEmpty ? [] : sorted.map(\.description) + [summary]
    }
}
