import Foundation

/// A page of metrics, each line of which is parsed by the text format 0.0.4 of Prometheus.
struct Exposition {
    struct Sample {
        let name: String
        let labels: [String: String]
        let value: Double
    }

    struct Malformed: Error, CustomStringConvertible {
        let line: Substring
        let why: String
        var description: String { "\(why): \(line)" }
    }

    private(set) var samples: [Sample] = []

    init(_ page: String) throws {
        guard page.hasSuffix("\n") else { throw Malformed(line: "", why: "no line end at the end") }
        var types: [String: Substring] = [:]
        var helped: Set<Substring> = []
        for line in page.dropLast().split(separator: "\n", omittingEmptySubsequences: false) {
            if let help = line.wholeMatch(of: /# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) .+/) {
                guard helped.insert(help.1).inserted else {
                    throw Malformed(line: line, why: "twice")
                }
            } else if let type = line.wholeMatch(
                of: /# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge|histogram)/)
            {
                types[String(type.1)] = type.2
            } else {
                let sample = try Self.sample(line)
                let family = sample.name.replacing(/_(bucket|sum|count)$/, with: "")
                guard types[sample.name] != nil || types[family] == "histogram" else {
                    throw Malformed(line: line, why: "no TYPE before it")
                }
                guard
                    !samples.contains(where: {
                        $0.name == sample.name && $0.labels == sample.labels
                    })
                else { throw Malformed(line: line, why: "the same sample twice") }
                samples.append(sample)
            }
        }
    }

    private static func sample(_ line: Substring) throws -> Sample {
        let form = /([a-zA-Z_:][a-zA-Z0-9_:]*)(\{(.*)\})? ([^ ]+)/
        guard let match = line.wholeMatch(of: form), let value = Double(match.4) else {
            throw Malformed(line: line, why: "no sample")
        }
        var labels: [String: String] = [:]
        var rest = match.3 ?? ""
        while !rest.isEmpty {
            guard
                let label = rest.prefixMatch(
                    of: /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)",?/),
                labels.updateValue(String(label.2), forKey: String(label.1)) == nil
            else { throw Malformed(line: line, why: "bad labels") }
            rest = rest[label.range.upperBound...]
        }
        return Sample(name: String(match.1), labels: labels, value: value)
    }

    func value(_ name: String, _ labels: [String: String] = [:]) -> Double? {
        samples.first { $0.name == name && $0.labels == labels }?.value
    }
}
