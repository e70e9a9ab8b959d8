package import YAMLReader

/// The findings of an import, in the order in which they were found.
package struct ImportFindings: Sendable, Equatable {
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

    mutating func error(at location: SourceLocation, _ text: String) { add(.error, location, text) }
    mutating func warning(at location: SourceLocation, _ text: String) {
        add(.warning, location, text)
    }
    mutating func note(at location: SourceLocation, _ text: String) { add(.note, location, text) }

    mutating func add(_ severity: Severity, _ location: SourceLocation, _ text: String) {
        let finding = Finding(severity: severity, location: location, text: text)
        if !all.contains(finding) { all.append(finding) }
    }

    mutating func add(_ others: ImportFindings) {
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

/// Why a KrakenD key has no equivalent, and the severity of the loss.
struct ImportLoss {
    let severity: ImportFindings.Severity
    let reason: String

    static func warning(_ reason: String) -> ImportLoss {
        .init(severity: .warning, reason: reason)
    }
    static func note(_ reason: String) -> ImportLoss { .init(severity: .note, reason: reason) }
}

extension ImportFindings {
    /// Reports a key that has no equivalent, with the reason.
    mutating func reportLoss(of member: DocumentNode.Member, among losses: [String: ImportLoss]) {
        // KrakenD ignores such keys; they are used for comments.
        guard let first = member.key.first, !"@_$".contains(first) else { return }
        let loss = losses[member.key] ?? KrakenDLosses.general(member.key)
        add(loss.severity, member.keyLocation, "'\(member.key)' is left out: \(loss.reason)")
    }
}
