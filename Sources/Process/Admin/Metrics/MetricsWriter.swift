import Assembly
import Basics
import HTTP

/// Writes metrics in one of the two text formats: families, samples, histograms, exemplars.
///
/// A family is named as its samples are in Prometheus' format, `tributary_requests_total`; OpenMetrics
/// names counters without `_total` and information without `_info`.
struct MetricsWriter {
    enum Kind: String {
        case counter, gauge, histogram
        /// Always 1; what it says is in its labels.
        case info
    }

    private(set) var text = ""
    /// The number of samples, which is the number of time series.
    private(set) var sampleCount = 0
    private let format: MetricsFormat
    /// For the times of exemplars.
    private let clock: ExemplarClock
    /// The name of the present family's samples.
    private var name = ""

    init(_ format: MetricsFormat, _ clock: ExemplarClock) {
        self.format = format
        self.clock = clock
    }

    // MARK: Families

    /// Begins a family; the samples that follow belong to it.
    mutating func family(_ name: String, _ kind: Kind, _ help: String) {
        self.name = name
        switch format {
        case .prometheus:
            // Information has no type of its own there.
            let type = kind == .info ? "gauge" : kind.rawValue
            text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
        case .openMetrics:
            let family = Self.familyName(name, kind)
            text += "# TYPE \(family) \(kind.rawValue)\n"
            if let unit = Self.unit(of: family) { text += "# UNIT \(family) \(unit)\n" }
            text += "# HELP \(family) \(help)\n"
        }
    }

    private static func familyName(_ name: String, _ kind: Kind) -> String {
        switch kind {
        case .counter where name.hasSuffix("_total"): String(name.dropLast("_total".count))
        case .info where name.hasSuffix("_info"): String(name.dropLast("_info".count))
        case .counter, .info, .gauge, .histogram: name
        }
    }

    /// The unit is the last word of the name.
    private static func unit(of family: String) -> String? {
        ["seconds", "bytes"].first { family.hasSuffix("_\($0)") }
    }

    /// Nothing may follow.
    mutating func end() {
        if format == .openMetrics { text += "# EOF\n" }
    }

    // MARK: Samples

    mutating func sample(_ value: Int) { sample("", .none, "\(value)") }

    mutating func sample(_ value: Double) { sample("", .none, "\(value)") }

    mutating func sample(_ labels: MetricLabels, _ value: Int) { sample("", labels, "\(value)") }

    mutating func sample(_ labels: MetricLabels, _ value: Double) {
        sample("", labels, "\(value)")
    }

    private mutating func sample(
        _ suffix: String, _ labels: MetricLabels, _ value: String, exemplar: String = ""
    ) {
        sampleCount += 1
        text += name
        text += suffix
        if !labels.text.isEmpty {
            text += "{"
            text += labels.text
            text += "}"
        }
        text += " "
        text += value
        text += exemplar
        text += "\n"
    }

    // MARK: Histograms

    mutating func histogram(_ labels: MetricLabels, _ histogram: Histogram) {
        self.histogram(labels, histogram, [])
    }

    mutating func histogram(_ labels: MetricLabels, _ histogram: HistogramWithExemplars) {
        self.histogram(labels, histogram.histogram, histogram.exemplars)
    }

    private mutating func histogram(
        _ labels: MetricLabels, _ histogram: Histogram, _ exemplars: [Exemplar?]
    ) {
        let scale = histogram.scale
        var count = 0
        for bucket in 0..<scale.bucketCount {
            count &+= histogram.counts[bucket]
            let bound =
                bucket < scale.bounds.count ? "\(scale.seconds(scale.bounds[bucket]))" : "+Inf"
            let exemplar = exemplars.indices.contains(bucket) ? exemplars[bucket] : nil
            sample(
                "_bucket", labels.adding("le", bound), "\(count)",
                exemplar: exemplar.map { text(of: $0, scale) } ?? "")
        }
        sample("_sum", labels, "\(scale.seconds(histogram.sum))")
        sample("_count", labels, "\(count)")
    }

    /// ` # {trace_id="..."} 0.043 1700000000.123`; only OpenMetrics has exemplars.
    private func text(of exemplar: Exemplar, _ scale: Histogram.Scale) -> String {
        guard format == .openMetrics else { return "" }
        var trace: [UInt8] = []
        trace.append(hex: exemplar.traceHigh)
        trace.append(hex: exemplar.traceLow)
        let milliseconds = clock.unixTime(at: exemplar.at) / 1_000_000
        return " # {trace_id=\"\(String(decoding: trace, as: UTF8.self))\"}"
            + " \(scale.seconds(exemplar.value)) \(Double(milliseconds) / 1000)"
    }
}

/// The labels of a sample, as they are written between braces.
struct MetricLabels {
    let text: String

    static let none = MetricLabels(text: "")

    private init(text: String) {
        self.text = text
    }

    init(_ name: String, _ value: String) {
        text = "\(name)=\"\(Self.escaped(value))\""
    }

    func adding(_ name: String, _ value: String) -> MetricLabels {
        let label = MetricLabels(name, value)
        return text.isEmpty ? label : MetricLabels(text: "\(text),\(label.text)")
    }

    /// Escapes backslashes, quotes and line ends.
    private static func escaped(_ value: String) -> String {
        guard value.utf8.contains(where: { $0 == 0x5C || $0 == 0x22 || $0 == 0x0A }) else {
            return value
        }
        var text = ""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\\": text += #"\\"#
            case "\"": text += #"\""#
            case "\n": text += #"\n"#
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
