import Foundation
import Testing

@testable import Process

/// The table of metrics in `docs/operate/monitoring.md` against what `/metrics` exposes.
@Suite struct MetricsReferenceTests {
    struct Metric: Equatable {
        var type: String
        var labels: Set<String>
    }

    @Test func thePageListsEveryMetricWithItsTypeAndLabels() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "docs/operate/monitoring.md")
        let documented = Self.documented(in: try String(contentsOf: file, encoding: .utf8))
        let exposed = Self.exposed(in: page)
        for name in Set(documented.keys).union(exposed.keys).sorted() {
            #expect(documented[name] == exposed[name], "\(name)")
        }
        #expect(exposed.count > 40)
        // Each metric has a sample, so that its labels are seen.
        for name in exposed.keys.sorted() {
            #expect(page.contains("\n\(name)"), "\(name)")
        }
    }

    // MARK: What is found

    @Test func theTableIsRead() {
        let page = """
            | metric | type | labels | meaning |
            |---|---|---|---|
            | `a_total` | counter | `x`, `y` | of `z` |
            | `b` | gauge | | none |

            | condition | expression |
            |---|---|
            | c | `c > 1` |
            """
        #expect(
            Self.documented(in: page) == [
                "a_total": Metric(type: "counter", labels: ["x", "y"]),
                "b": Metric(type: "gauge", labels: []),
            ])
    }

    @Test func theExpositionIsRead() {
        let text = """
            # HELP a_total A.
            # TYPE a_total counter
            a_total{x="1",y="a,b=\\"c"} 2
            # TYPE b histogram
            b_bucket{x="1",le="+Inf"} 2
            b_sum{x="1"} 2
            """
        #expect(
            Self.exposed(in: text) == [
                "a_total": Metric(type: "counter", labels: ["x", "y"]),
                "b": Metric(type: "histogram", labels: ["x"]),
            ])
    }

    // MARK: Reading

    private var page: String { FullPage.text() }

    private static func documented(in page: String) -> [String: Metric] {
        var metrics: [String: Metric] = [:]
        var isTable = false
        for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
            if line == "| metric | type | labels | meaning |" { isTable = true }
            if !line.hasPrefix("|") { isTable = false }
            guard isTable, let name = line.firstMatch(of: /^\| `(\w+)` \| (\w+) \|([^|]*)\|/) else {
                continue
            }
            let labels = name.3.matches(of: /`(\w+)`/).map { String($0.1) }
            metrics[String(name.1)] = Metric(type: String(name.2), labels: Set(labels))
        }
        return metrics
    }

    /// From the lines `# TYPE` and the labels of the samples below; `le` belongs to the format.
    private static func exposed(in text: String) -> [String: Metric] {
        var metrics: [String: Metric] = [:]
        var name = ""
        for line in text.split(separator: "\n") {
            if let type = line.firstMatch(of: /^# TYPE (\w+) (\w+)$/) {
                name = String(type.1)
                metrics[name] = Metric(type: String(type.2), labels: [])
            }
            guard !line.hasPrefix("#") else { continue }
            for label in line.matches(of: /[{,](\w+)="(?:[^"\\]|\\.)*"/) where label.1 != "le" {
                metrics[name]?.labels.insert(String(label.1))
            }
        }
        return metrics
    }
}
