import Basics

/// An expectation of a rehearsal, as an operator writes it: `p99<300ms`, `GET /home: ok>=99%`.
package struct ExpectationRule: Sendable {
    /// As it was written, without spaces around it.
    let text: String
    /// Nil for all requests.
    private let endpoint: String?
    private let metric: Metric
    private let comparison: Comparison
    /// Milliseconds of a time, millionths of a share.
    private let limit: Int

    private enum Metric: String, CaseIterable {
        case p50, p90, p99, max, ok, partial, failed

        /// Nil for shares.
        var percent: Int? { ResponseTimes.columns.first { $0.name == rawValue }?.percent }
    }

    private enum Comparison: String, CaseIterable {
        // The longer ones first, as they are parsed.
        case atMost = "<="
        case atLeast = ">="
        case below = "<"
        case above = ">"

        func holds<Value: Comparable>(_ actual: Value, _ limit: Value) -> Bool {
            switch self {
            case .atMost: actual <= limit
            case .atLeast: actual >= limit
            case .below: actual < limit
            case .above: actual > limit
            }
        }
    }

    /// A list: `p99<300ms, GET /home: ok>99%`, with at least one entry.
    ///
    /// - Parameter endpoints: the valid names
    package static func list(
        _ text: String, endpoints: [String]
    ) throws(RuleList.SyntaxError) -> [ExpectationRule] {
        var expectations: [ExpectationRule] = []
        for item in text.split(separator: ",", omittingEmptySubsequences: false) {
            expectations.append(try ExpectationRule(item, endpoints))
        }
        return expectations
    }

    private init(
        _ item: Substring, _ endpoints: [String]
    ) throws(RuleList.SyntaxError) {
        text = item.trimmed
        let colon = item.lastIndex(of: ":")
        endpoint = colon.map { item[..<$0].trimmed }
        if let endpoint, !endpoints.contains(endpoint) {
            throw RuleList.SyntaxError(
                description: "there is no endpoint '\(endpoint)' (known: "
                    + "\(endpoints.joined(separator: ", ")))")
        }
        let rest = colon.map { item[item.index(after: $0)...] } ?? item
        let name = rest.prefix { !"<>".contains($0) }
        let limit = rest.dropFirst(name.count)
        guard let comparison = Comparison.allCases.first(where: { limit.hasPrefix($0.rawValue) })
        else {
            throw RuleList.SyntaxError(
                description: "write it like 'p99<300ms' or 'GET /home: ok>=99%': '\(text)'")
        }
        guard let metric = Metric(rawValue: name.trimmed) else {
            let known = Metric.allCases.map(\.rawValue).joined(separator: ", ")
            throw RuleList.SyntaxError(
                description: "there is no metric '\(name.trimmed)' (known: \(known))")
        }
        self.comparison = comparison
        self.metric = metric
        self.limit = try Self.limit(
            limit.dropFirst(comparison.rawValue.count).trimmed, of: metric)
    }

    private static func limit(
        _ word: String, of metric: Metric
    ) throws(RuleList.SyntaxError) -> Int {
        if metric.percent != nil {
            if let milliseconds = RuleList.milliseconds(word) { return milliseconds }
            throw RuleList.SyntaxError(
                description: "\(metric.rawValue) needs a time such as 300ms: '\(word)'")
        }
        if let share = RuleList.share(word) { return Int((share * 1_000_000).rounded()) }
        throw RuleList.SyntaxError(
            description: "\(metric.rawValue) needs a share such as 99%: '\(word)'")
    }

    /// Whether a rehearsal met an expectation.
    package struct Result {
        let expectation: ExpectationRule
        /// `p99 is 412.3ms`
        let actual: String
        package let isMet: Bool

        package var line: String { "expected \(expectation.text): \(actual)" }
    }

    /// An endpoint without requests meets no expectation, and a request without a whole response none of its time.
    package func result(in summary: RehearsalSummary) -> Result {
        let outcomes =
            endpoint.map { name in summary.endpoints.first { $0.name == name }?.outcomes }
            ?? summary.all
        guard let outcomes, outcomes.requests > 0 else {
            return Result(expectation: self, actual: "there were no requests", isMet: false)
        }
        if let percent = metric.percent {
            guard let time = outcomes.times.quantile(percent) else {
                return Result(
                    expectation: self, actual: "\(metric.rawValue) has no whole response",
                    isMet: false)
            }
            return Result(
                expectation: self, actual: "\(metric.rawValue) is \(time.millisecondsText)",
                isMet: comparison.holds(time, .milliseconds(limit)))
        }
        let count = count(of: outcomes)
        let share = count * 1000 / outcomes.requests
        return Result(
            expectation: self,
            actual: "\(metric.rawValue) is \(share / 10).\(share % 10)%, \(count) of"
                + " \(outcomes.requests)",
            isMet: comparison.holds(count * 1_000_000, limit * outcomes.requests))
    }

    private func count(of outcomes: RehearsalSummary.Outcomes) -> Int {
        switch metric {
        case .ok: outcomes.ok
        case .partial: outcomes.partial
        case .failed: outcomes.failed
        case .p50, .p90, .p99, .max: outcomes.requests
        }
    }
}

extension Substring {
    /// Without spaces at both ends.
    fileprivate var trimmed: String {
        var text = drop { $0 == " " }
        while text.last == " " { text.removeLast() }
        return String(text)
    }
}
