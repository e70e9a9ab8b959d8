import Gateway
import YAMLReader

/// One endpoint of the imported file: written, written as a comment, or only reported.
struct ImportedEndpoint {
    /// `endpoint GET /a`
    let title: String
    let location: SourceLocation
    /// Nil if it cannot be expressed.
    var tree: YAMLTree?
    /// The names of the backends that it calls.
    var backends: Set<String> = []
    /// The names of its own rate limits and of the service's.
    var limits: Set<String> = []
    /// Whether KrakenD protects it; it is then written as a comment, because it would be accessible
    /// without authentication.
    var isProtected = false
    /// Why it is left out.
    var reasons = ImportFindings()
    var findings = ImportFindings()

    var isWritten: Bool { tree != nil && !isProtected }

    /// Leaves the endpoint out; its other findings no longer apply.
    mutating func leaveOut(_ reason: String, at refused: SourceLocation?) {
        if tree != nil { (reasons, findings) = (ImportFindings(), ImportFindings()) }
        tree = nil
        reasons.warning(at: refused ?? location, "\(title) is left out: \(reason)")
    }
}

/// The generated configuration, with the findings as comments.
struct ImportedDocument {
    /// The name of the service.
    let name: String?
    /// The location of the beginning of the imported file.
    let location: SourceLocation
    /// The findings about the service; each endpoint has its own findings.
    let findings: ImportFindings
    private(set) var members: YAMLMembers
    private(set) var limits: YAMLMembers
    /// The names of the limits that all endpoints share.
    let limitsOfService: Set<String>
    let backends: KrakenDBackends
    private(set) var endpoints: [ImportedEndpoint]
    /// Comments that follow the configuration: the contents of other files.
    let trailer: [YAMLLine]
    /// Replaces a member where the document is checked.
    let checkedMembers: [String: YAMLTree]

    // MARK: Text

    var text: String {
        var lines = YAMLLine.comment(
            "Imported from the KrakenD configuration\(name.map { " of \($0)" } ?? "").")
        lines += comments(findings)
        lines += members.flatMap { YAMLTree.lines(key: $0.0, $0.1) }
        lines += block("rate_limits", limits, usedBy: \.limits, always: limitsOfService) ?? []
        lines +=
            block(
                "backends", backends.blocks(withFiles: true), usedBy: \.backends,
                always: backends.keyServers) ?? [YAMLLine("backends: {}")]
        lines += endpointLines + trailer
        return lines.map { $0.text + "\n" }.joined()
    }

    private func comments(_ findings: ImportFindings) -> [YAMLLine] {
        findings.sorted.flatMap { finding in
            YAMLLine.comment(
                "\(finding.severity.rawValue), line \(finding.location.line): \(finding.text)")
        }
    }

    /// The entries that the endpoints use. Entries that only commented endpoints use are comments, too.
    ///
    /// - Parameter always: the names of entries that something else uses
    private func block(
        _ key: String, _ entries: YAMLMembers, usedBy names: (ImportedEndpoint) -> Set<String>,
        always: Set<String>
    ) -> [YAMLLine]? {
        let used = endpoints.filter(\.isWritten).reduce(into: always) { $0.formUnion(names($1)) }
        let mentioned = endpoints.filter { $0.tree != nil }.reduce(into: used) {
            $0.formUnion(names($1))
        }
        let isEmpty = !entries.contains { used.contains($0.0) }
        let lines = entries.filter { mentioned.contains($0.0) }.flatMap { name, tree in
            let own = YAMLTree.lines(key: name, tree)
            guard !used.contains(name) else { return own }
            return YAMLLine.comment("Only endpoints that are left out use it.")
                + own.map(\.asComment)
        }
        guard !lines.isEmpty else { return nil }
        let head = isEmpty && key == "rate_limits" ? "# \(key):" : key + (isEmpty ? ": {}" : ":")
        return [YAMLLine(head)] + lines.map { $0.indented() }
    }

    private var endpointLines: [YAMLLine] {
        let isEmpty = !endpoints.contains(where: \.isWritten)
        return [YAMLLine(isEmpty ? "endpoints: []" : "endpoints:")]
            + endpoints.flatMap { endpoint in
                let own = endpoint.tree?.item ?? []
                let lines = endpoint.isProtected ? own.map(\.asComment) : own
                return (comments(endpoint.reasons) + comments(endpoint.findings) + lines)
                    .map { $0.indented() }
            }
    }

    // MARK: Check

    /// The part of the document that contains a line, and that is left out if the line has an
    /// error.
    enum Part {
        case member(String)
        case backend(String)
        case endpoint(Int)
    }

    /// The lines to check, including the lines of protected endpoints, which must be valid when they
    /// are uncommented. Certificate files are left out, because they may not exist on this machine.
    var checkedLines: [(part: Part, line: YAMLLine)] {
        var lines: [(part: Part, line: YAMLLine)] = []
        for (key, tree) in members + (limits.isEmpty ? [] : [("rate_limits", .block(limits))]) {
            lines += YAMLTree.lines(key: key, checkedMembers[key] ?? tree).map {
                (.member(key), $0)
            }
        }
        lines.append((.member("backends"), YAMLLine("backends:")))
        let used = endpoints.filter { $0.tree != nil }.reduce(into: backends.keyServers) {
            $0.formUnion($1.backends)
        }
        for (name, tree) in backends.blocks(withFiles: false) where used.contains(name) {
            lines += YAMLTree.lines(key: name, tree).map { (.backend(name), $0.indented()) }
        }
        lines.append((.member("endpoints"), YAMLLine("endpoints:")))
        for (index, endpoint) in endpoints.enumerated() {
            lines += (endpoint.tree?.item ?? []).map { (.endpoint(index), $0.indented()) }
        }
        return lines
    }

    /// Leaves out a part that has an error; false if nothing can be left out.
    private mutating func leaveOut(
        _ part: Part, _ reason: String, at location: SourceLocation?
    ) -> Bool {
        switch part {
        case .endpoint(let index):
            endpoints[index].leaveOut(reason, at: location)
            return true
        case .backend(let name):
            let callers = endpoints.indices.filter {
                endpoints[$0].tree != nil && endpoints[$0].backends.contains(name)
            }
            for index in callers { endpoints[index].leaveOut(reason, at: location) }
            return !callers.isEmpty
        case .member(let key):
            if key == "rate_limits", !limits.isEmpty {
                limits = []
            } else if key != "version", let index = members.firstIndex(where: { $0.0 == key }) {
                members.remove(at: index)
            } else {
                return false
            }
            findings.warning(at: location ?? self.location, "'\(key)' is left out: \(reason)")
            return true
        }
    }

    /// Leaves out the parts that have errors, so that `check` accepts the result. Every round leaves out
    /// a part, or is the last one.
    ///
    /// - Returns: the errors that remain
    mutating func removeInvalidParts() -> ImportFindings {
        let errors = ImportFindings()
        while endpoints.contains(where: { $0.tree != nil }) {
            let lines = checkedLines
            let problems = Self.problems(of: lines.map(\.line.text))
            var isChanged = false
            for problem in problems {
                let owner = lines[Self.index(of: problem.location.line, in: lines)]
                let reason = Self.withImportedLocations(problem.text, lines.map(\.line))
                if leaveOut(owner.part, reason, at: owner.line.location) { isChanged = true }
            }
            guard !isChanged else { continue }
            for problem in problems {
                errors.error(
                    at: location, "the generated configuration has an error: \(problem.text)")
            }
            break
        }
        return errors
    }

    private static let file = "imported.yaml"

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

    private static func index<Line>(of number: Int, in lines: [Line]) -> Int {
        min(max(number, 1), lines.count) - 1
    }

    /// Replaces locations in the checked lines by locations in the imported file.
    private static func withImportedLocations(_ text: String, _ lines: [YAMLLine]) -> String {
        var result = ""
        var rest = text[...]
        while let found = rest.firstRange(of: "\(file):") {
            result += rest[..<found.lowerBound]
            rest = rest[found.upperBound...]
            let line = rest.prefix(while: \.isNumber)
            let column = rest.dropFirst(line.count + 1).prefix(while: \.isNumber)
            rest = rest.dropFirst(line.count + 1 + column.count)
            let location = lines[index(of: Int(line) ?? 1, in: lines)].location
            result += location?.description ?? "the configuration"
        }
        return result + rest
    }
}
