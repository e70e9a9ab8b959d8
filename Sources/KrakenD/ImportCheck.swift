import Gateway
import YAMLReader

/// Checks the generated configuration and leaves out the parts that have errors, so that `check`
/// accepts the result. Locations are those of the imported file.
struct ImportCheck {
    private static let file = "imported.yaml"

    /// Errors that cannot be removed by leaving out a part.
    private(set) var errors = ImportFindings()

    /// Every round leaves out a part, or is the last one.
    mutating func removeInvalidParts(of document: inout ImportedDocument) {
        while document.endpoints.contains(where: { $0.tree != nil }) {
            let lines = document.checkedLines
            let problems = Self.problems(of: lines.map(\.line.text))
            if problems.isEmpty { return }
            var isChanged = false
            for problem in problems {
                let owner = lines[min(max(problem.location.line, 1), lines.count) - 1]
                let reason = Self.withImportedLocations(problem.text, lines.map(\.line))
                if document.leaveOut(owner.part, reason, at: owner.line.location) {
                    isChanged = true
                }
            }
            guard isChanged else {
                for problem in problems {
                    errors.error(
                        at: document.location,
                        "the generated configuration has an error: \(problem.text)"
                    )
                }
                return
            }
        }
    }

    private static func problems(of lines: [String]) -> [Problems.Problem] {
        let bytes = Array(lines.map { $0 + "\n" }.joined().utf8)
        let files = ConfigFiles(
            read: { path throws(ConfigFileError) in
                if KrakenDAuth.files.contains(path) { return Array("[]".utf8) }
                guard path == file else { throw .notFound }
                return bytes
            }, list: { _ throws(ConfigFileError) in throw .notFound })
        let (_, problems) = ConfigLoader.load(file, files: files, environment: { _ in nil })
        return problems.sorted.filter { $0.severity == .error }
    }

    /// Replaces locations in the checked lines by those in the imported file.
    private static func withImportedLocations(_ text: String, _ lines: [YAMLLine]) -> String {
        var result = ""
        var rest = text[...]
        while let found = rest.firstRange(of: "\(file):") {
            result += rest[..<found.lowerBound]
            rest = rest[found.upperBound...]
            let line = rest.prefix(while: \.isNumber)
            let column = rest.dropFirst(line.count + 1).prefix(while: \.isNumber)
            rest = rest.dropFirst(line.count + 1 + column.count)
            let index = min(max(Int(line) ?? 1, 1), lines.count) - 1
            result += lines[index].location?.description ?? "the configuration"
        }
        return result + rest
    }
}
