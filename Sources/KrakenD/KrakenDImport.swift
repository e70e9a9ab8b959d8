import Gateway
package import YAMLReader

/// Converts a KrakenD configuration of version 3 or 2.
///
/// Settings that have no equivalent, or a different one, are reported with source location and
/// reason, and as comments in the result. An endpoint that would be accessible without the
/// authentication that KrakenD has is written as a comment. The result passes `check`.
package struct KrakenDImport {
    /// The configuration as YAML; nil if the file cannot be read.
    package private(set) var text: String?

    /// Contains errors only if the file cannot be read.
    package let findings = ImportFindings()

    private var document: ImportedDocument?

    /// - Parameters:
    ///   - file: the name of the file in locations
    ///   - opensProtected: writes protected endpoints too
    package init(_ bytes: [UInt8], file: String, opensProtected: Bool = false) {
        do throws(DocumentProblem) {
            convert(try JSONConfigSource.read(bytes, file: file), opensProtected)
        } catch {
            let isTemplate = String(decoding: bytes, as: UTF8.self).contains("{{")
            findings.error(
                at: error.location,
                error.text + (isTemplate ? "; a template must be rendered first (FC_OUT)" : ""))
        }
    }

    private mutating func convert(_ root: DocumentNode, _ opensProtected: Bool) {
        guard case .mapping = root.content else {
            return findings.error(at: root.location, "this is not a KrakenD configuration")
        }
        guard let version = root["version"]?.integer, version == 3 || version == 2 else {
            return findings.error(
                at: root["version"]?.location ?? root.location,
                "only KrakenD configurations of version 3 or 2 are supported")
        }
        let root = KrakenDVersion2.renamed(root, version: version)
        var document = KrakenDService(root, opensProtected: opensProtected).converted()
        let errors = document.removeInvalidParts()
        findings.add(document.findings)
        for endpoint in document.endpoints {
            findings.add(endpoint.reasons)
            findings.add(endpoint.findings)
        }
        findings.add(errors)
        text = document.text
        self.document = document
    }

    /// Whether there are warnings.
    package var isIncomplete: Bool { findings.count(of: .warning) > 0 }

    /// The findings by source location, with the summary last.
    package var lines: [String] { findings.sorted.map(\.description) + summary }

    private var summary: [String] {
        guard let endpoints = document?.endpoints else {
            return [Self.counted(findings.count(of: .error), "error")]
        }
        let written = endpoints.count(where: \.isWritten)
        let protected = endpoints.count { $0.isProtected && $0.tree != nil }
        let left = endpoints.count - written
        var summary = "\(Self.counted(endpoints.count, "endpoint")): \(written) written"
        if left > 0 { summary += ", \(left) left out" }
        if protected > 0 { summary += " (\(protected) because of protection)" }
        summary += "; " + Self.counted(findings.count(of: .warning), "warning")
        summary += ", " + Self.counted(findings.count(of: .note), "note")
        guard written == 0 else { return [summary] }
        return [summary, "no endpoint was written, so 'tributary check' rejects the configuration"]
    }

    /// For tools: the numbers, the findings by source location, and the configuration.
    package var json: String {
        let endpoints = document?.endpoints ?? []
        let problems = findings.sorted.map { finding in
            JSONTree.object([
                ("severity", .text(finding.severity.rawValue)),
                ("file", .text(finding.location.file)),
                ("line", .raw("\(finding.location.line)")),
                ("column", .raw("\(finding.location.column)")), ("text", .text(finding.text)),
            ])
        }
        return JSONTree.object([
            ("errors", .raw("\(findings.count(of: .error))")),
            ("warnings", .raw("\(findings.count(of: .warning))")),
            ("notes", .raw("\(findings.count(of: .note))")),
            ("endpoints", .raw("\(endpoints.count)")),
            ("written", .raw("\(endpoints.count(where: \.isWritten))")),
            ("problems", .list(problems)),
            ("configuration", text.map { .text($0) } ?? .raw("null")),
        ]).text + "\n"
    }

    private static func counted(_ count: Int, _ word: String) -> String {
        "\(count) \(word)\(count == 1 ? "" : "s")"
    }
}

/// The findings of an import, in the order in which they were found. The converters of one part
/// share the object.
package final class ImportFindings {
    /// One line of the report: `krakend.json:9:27: warning: text`.
    package struct Finding: Sendable, Hashable, CustomStringConvertible {
        package let severity: Severity
        package let location: SourceLocation
        package let text: String

        package var description: String { "\(location): \(severity.rawValue): \(text)" }
    }

    package enum Severity: String, Sendable {
        /// The file cannot be read.
        case error
        /// A difference that clients or backends can notice.
        case warning
        /// A setting that is expressed differently; clients and backends notice no difference.
        case note
    }

    private(set) var all: [Finding] = []

    func error(at location: SourceLocation, _ text: String) { add(.error, location, text) }
    func warning(at location: SourceLocation, _ text: String) { add(.warning, location, text) }
    func note(at location: SourceLocation, _ text: String) { add(.note, location, text) }

    func add(_ severity: Severity, _ location: SourceLocation, _ text: String) {
        let finding = Finding(severity: severity, location: location, text: text)
        if !all.contains(finding) { all.append(finding) }
    }

    func add(_ others: ImportFindings) {
        for finding in others.all { add(finding.severity, finding.location, finding.text) }
    }

    package func count(of severity: Severity) -> Int { all.count { $0.severity == severity } }

    /// By source location; findings of one location in the order in which they were found.
    var sorted: [Finding] {
        all.enumerated().sorted { one, other in
            (one.element.location.line, one.element.location.column, one.offset)
                < (other.element.location.line, other.element.location.column, other.offset)
        }.map(\.element)
    }
}
