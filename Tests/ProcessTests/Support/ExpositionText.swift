import Assembly
import Foundation

@testable import Process

/// A page of metrics, parsed strictly: everything that Prometheus' text format 0.0.4 or OpenMetrics 1.0
/// requires and this gateway uses.
struct ExpositionText {
    struct Malformed: Error, CustomStringConvertible {
        let why: String
        let line: Substring
        var description: String { "\(why): \(line)" }
    }

    struct Exemplar: Equatable {
        let trace: String
        let value: Double
        let time: Double
    }

    struct Sample {
        let name: String
        let labels: [String: String]
        let value: Double
        let exemplar: Exemplar?
    }

    struct Family {
        let name: String
        var type = ""
        var unit = ""
        var help = ""
        var samples: [Sample] = []
    }

    private(set) var families: [Family] = []
    private let format: MetricsFormat

    init(_ text: String, _ format: MetricsFormat) throws {
        self.format = format
        guard text.hasSuffix("\n") else { throw Malformed(why: "no line end", line: "") }
        var lines = text.dropLast().split(separator: "\n", omittingEmptySubsequences: false)
        if format == .openMetrics, lines.popLast() != "# EOF" {
            throw Malformed(why: "no # EOF at the end", line: "")
        }
        for line in lines {
            if line.hasPrefix("#") { try addComment(line) } else { try addSample(line) }
        }
        for family in families { try check(family) }
    }

    func value(_ name: String, _ labels: [String: String] = [:]) -> Double? {
        samples.first { $0.name == name && $0.labels == labels }?.value
    }

    var samples: [Sample] { families.flatMap(\.samples) }

    // MARK: Lines

    private mutating func addComment(_ line: Substring) throws {
        guard let match = line.wholeMatch(of: /# (HELP|TYPE|UNIT) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)/)
        else { throw Malformed(why: "no comment of a family", line: line) }
        let name = String(match.2)
        if families.last?.name != name {
            guard !families.contains(where: { $0.name == name }) else {
                throw Malformed(why: "the family stands in two places", line: line)
            }
            families.append(Family(name: name))
        }
        let last = families.count - 1
        guard families[last].samples.isEmpty else {
            throw Malformed(why: "behind a sample", line: line)
        }
        switch match.1 {
        case "HELP": families[last].help = String(match.3)
        case "TYPE":
            let types = [
                "counter", "gauge", "histogram", format == .openMetrics ? "info" : "untyped",
            ]
            guard types.contains(String(match.3)) else { throw Malformed(why: "type", line: line) }
            families[last].type = String(match.3)
        default:
            guard format == .openMetrics, name.hasSuffix("_" + match.3) else {
                throw Malformed(why: "unit", line: line)
            }
            families[last].unit = String(match.3)
        }
    }

    private mutating func addSample(_ line: Substring) throws {
        let form =
            /([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[^"}]|"(?:[^"\\]|\\["\\n])*")*)\})? ([^ ]+)(?: # (.+))?/
        guard let match = line.wholeMatch(of: form), let value = Double(match.3) else {
            throw Malformed(why: "no sample", line: line)
        }
        guard let family = families.last, isName(String(match.1), of: family) else {
            throw Malformed(why: "not of the family above", line: line)
        }
        let labels = try Self.labels(match.2 ?? "", line)
        guard !family.samples.contains(where: { $0.name == match.1 && $0.labels == labels }) else {
            throw Malformed(why: "the same sample twice", line: line)
        }
        let sample = Sample(
            name: String(match.1), labels: labels, value: value,
            exemplar: try match.4.map { try exemplar($0, of: String(match.1), line) })
        families[families.count - 1].samples.append(sample)
    }

    private func isName(_ name: String, of family: Family) -> Bool {
        switch (family.type, format) {
        case ("counter", .openMetrics): name == family.name + "_total"
        case ("counter", .prometheus): name == family.name && name.hasSuffix("_total")
        case ("info", _): name == family.name + "_info"
        case ("histogram", _):
            ["_bucket", "_sum", "_count"].contains { name == family.name + $0 }
        case ("gauge", _): name == family.name && !name.hasSuffix("_total")
        default: false
        }
    }

    private static func labels(_ text: Substring, _ line: Substring) throws -> [String: String] {
        var labels: [String: String] = [:]
        var rest = text
        while !rest.isEmpty {
            guard
                let label = rest.prefixMatch(
                    of: /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,(?=.)|$)/),
                !label.1.hasPrefix("__"),
                labels.updateValue(Self.unescaped(label.2), forKey: String(label.1)) == nil
            else { throw Malformed(why: "labels", line: line) }
            rest = rest[label.range.upperBound...]
        }
        return labels
    }

    private static func unescaped(_ text: Substring) -> String {
        text.replacing(/\\(.)/) { match in match.1 == "n" ? "\n" : match.1 }.description
    }

    private func exemplar(
        _ text: Substring, of name: String, _ line: Substring
    ) throws -> Exemplar {
        guard format == .openMetrics, name.hasSuffix("_bucket"),
            let match = text.wholeMatch(of: /\{trace_id="([0-9a-f]{32})"\} ([0-9.e-]+) ([0-9.]+)/),
            let value = Double(match.2), let time = Double(match.3)
        else { throw Malformed(why: "exemplar", line: line) }
        return Exemplar(trace: String(match.1), value: value, time: time)
    }

    // MARK: Families

    private func check(_ family: Family) throws {
        guard !family.type.isEmpty, !family.help.isEmpty else {
            throw Malformed(why: "without TYPE or HELP", line: Substring(family.name))
        }
        for sample in family.samples {
            let isCount = family.type == "counter" || family.type == "histogram"
            guard !isCount || sample.value >= 0, family.type != "info" || sample.value == 1 else {
                throw Malformed(why: "value", line: Substring(sample.name))
            }
        }
        guard family.type == "histogram" else { return }
        let groups = Dictionary(grouping: family.samples) { sample in
            sample.labels.filter { $0.key != "le" }
        }
        for (labels, samples) in groups { try checkHistogram(family.name, labels, samples) }
    }

    private func checkHistogram(
        _ name: String, _ labels: [String: String], _ samples: [Sample]
    ) throws {
        let line = Substring("\(name) \(labels)")
        let buckets = samples.filter { $0.name == name + "_bucket" }
        let bounds = buckets.map { $0.labels["le"].flatMap { Double($0) } ?? .nan }
        guard samples.map(\.name).suffix(2) == [name + "_sum", name + "_count"],
            samples.count == buckets.count + 2, buckets.last?.labels["le"] == "+Inf",
            zip(bounds, bounds.dropFirst()).allSatisfy({ $0 < $1 }),
            zip(buckets, buckets.dropFirst()).allSatisfy({ $0.value <= $1.value }),
            samples.last?.value == buckets.last?.value
        else { throw Malformed(why: "histogram", line: line) }
        for (index, bucket) in buckets.enumerated() {
            guard let exemplar = bucket.exemplar else { continue }
            guard exemplar.value <= bounds[index],
                index == 0 || exemplar.value > bounds[index - 1], bucket.value > 0
            else { throw Malformed(why: "exemplar of another bucket", line: line) }
        }
    }
}
