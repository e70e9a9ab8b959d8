import Foundation
import Testing

/// The alerts for Prometheus: each has a section of the manual, a case in which it fires and one in which
/// it does not. `script/verify metrics` runs the cases.
@Suite struct AlertTests {
    private struct Alert {
        let name: String
        let runbook: String
    }

    private static func text(_ path: String) throws -> String {
        try String(contentsOf: Sources.root.appending(path: path), encoding: .utf8)
    }

    private static func alerts() throws -> [Alert] {
        try text("deploy/prometheus/alerts.yml").split(separator: "- alert: ").dropFirst().map {
            Alert(
                name: String(try #require($0.firstMatch(of: /^\w+/)).0),
                runbook: String(try #require($0.firstMatch(of: /\n +runbook: (\S+)\n/)).1))
        }
    }

    @Test func everyAlertNamesASectionOfTheManualThatNamesIt() throws {
        let alerts = try Self.alerts()
        #expect(alerts.count > 15)
        for alert in alerts {
            let parts = alert.runbook.split(separator: "#").map(String.init)
            try #require(parts.count == 2, "\(alert.name)")
            let sections = try Self.text(parts[0]).split(separator: /\n(?=#)/)
            let section = try #require(
                sections.first { Self.anchor(of: $0) == parts[1] }, "\(alert.runbook)")
            #expect(section.contains("`\(alert.name)`"), "\(alert.runbook)")
        }
    }

    /// The heading as links name it.
    private static func anchor(of section: Substring) -> String {
        let heading = section.prefix { $0 != "\n" }.drop { $0 == "#" }.dropFirst().lowercased()
        return heading.filter { $0.isLetter || $0.isNumber || " -_".contains($0) }
            .replacing(" ", with: "-")
    }

    @Test func everyAlertHasACaseThatFiresAndOneThatDoesNot() throws {
        let cases = try Self.text("deploy/prometheus/alerts.test.yml")
            .split(separator: "- eval_time: ").dropFirst()
        for name in Set(try Self.alerts().map(\.name)) {
            let own = cases.filter { $0.contains("alertname: \(name)\n") }
            #expect(own.contains { $0.contains("exp_labels") }, "\(name)")
            #expect(own.contains { $0.contains("exp_alerts: []") }, "\(name)")
        }
    }

    /// `deploy/kubernetes/write-rules` writes it.
    @Test func theRulesForKubernetesAreTheSame() throws {
        let alerts = try Self.text("deploy/prometheus/alerts.yml")
        let indented = alerts.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.isEmpty ? "" : "  \($0)" }.joined(separator: "\n")
        #expect(try Self.text("deploy/kubernetes/prometheusrule.yaml").hasSuffix(indented))
    }
}
