import HTTP

/// The two text formats of metrics.
enum MetricsFormat: Sendable {
    /// Prometheus' text format, version 0.0.4.
    case prometheus
    /// OpenMetrics 1.0, which also has units and exemplars.
    case openMetrics

    var contentType: FieldValue {
        switch self {
        case .prometheus: "text/plain; version=0.0.4; charset=utf-8"
        case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
        }
    }

    /// What a client prefers by its `Accept` fields (RFC 9110 12.5.1). Prometheus' format is the
    /// default: also for a client that accepts neither, since a scraper with an unusual field is better
    /// served than refused.
    init(accept fields: some Sequence<String>) {
        var (openMetrics, prometheus) = (Preference(), Preference())
        for field in fields {
            for range in field.split(separator: ",") {
                guard let range = MediaRange(range) else { continue }
                openMetrics.consider(range, for: "application", "openmetrics-text", ["1.0.0"])
                prometheus.consider(range, for: "text", "plain", ["0.0.4"])
            }
        }
        let isPreferred =
            openMetrics.quality > prometheus.quality
            || openMetrics.quality == prometheus.quality
                && openMetrics.specificity > prometheus.specificity
        self = isPreferred && openMetrics.quality > 0 ? .openMetrics : .prometheus
    }

    /// The quality of the most specific range that matches a type.
    private struct Preference {
        private(set) var quality = 0
        private(set) var specificity = 0

        mutating func consider(
            _ range: MediaRange, for type: Substring, _ subtype: Substring, _ versions: [Substring]
        ) {
            guard let specificity = range.specificity(for: type, subtype, versions),
                specificity >= self.specificity
            else { return }
            // Of two equally specific ranges, the better one.
            quality = specificity == self.specificity ? max(quality, range.quality) : range.quality
            self.specificity = specificity
        }
    }
}

/// One element of `Accept`: `application/openmetrics-text; version=1.0.0; q=0.5`
struct MediaRange {
    let type: Substring
    let subtype: Substring
    let version: Substring?
    /// In thousandths.
    let quality: Int

    /// Nil if it is malformed.
    init?(_ text: Substring) {
        let parts = text.split(separator: ";", omittingEmptySubsequences: false)
        guard let names = parts.first?.trimmed.lowercased().split(separator: "/"), names.count == 2
        else { return nil }
        (type, subtype) = (Substring(names[0]), Substring(names[1]))
        var (version, quality) = (Substring?.none, 1000)
        for part in parts.dropFirst() {
            let pair = part.split(separator: "=", maxSplits: 1)
            guard pair.count == 2 else { continue }
            let value = pair[1].trimmed.unquoted
            switch pair[0].trimmed.lowercased() {
            case "version": version = value
            case "q":
                guard let thousandths = Self.thousandths(value) else { return nil }
                quality = thousandths
            default: break
            }
        }
        self.version = version
        self.quality = quality
    }

    /// 0 for no range of its own, up to 4 for one with a version; nil if it does not match.
    func specificity(
        for type: Substring, _ subtype: Substring, _ versions: [Substring]
    ) -> Int? {
        if self.type == "*", self.subtype == "*" { return 1 }
        guard self.type == type else { return nil }
        if self.subtype == "*" { return 2 }
        guard self.subtype == subtype else { return nil }
        guard let version else { return 3 }
        return versions.contains(version) ? 4 : nil
    }

    /// `0`, `0.5`, `1.000` (RFC 9110 12.4.2)
    private static func thousandths(_ text: Substring) -> Int? {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = parts.first, whole == "0" || whole == "1" else { return nil }
        let digits = parts.count > 1 ? parts[1] : ""
        guard digits.count <= 3, digits.allSatisfy({ ("0"..."9").contains($0) }) else { return nil }
        let fraction = Int(digits + String(repeating: "0", count: 3 - digits.count)) ?? 0
        guard whole == "0" || fraction == 0 else { return nil }
        return (whole == "1" ? 1000 : 0) + fraction
    }
}

extension Substring {
    /// Without spaces and tabs around it.
    fileprivate var trimmed: Substring {
        var text = drop { $0 == " " || $0 == "\t" }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text
    }

    fileprivate var unquoted: Substring {
        count >= 2 && first == "\"" && last == "\"" ? dropFirst().dropLast() : self
    }
}
