/// For how many requests of many seeds each excuse was used.
package struct ExcuseCounts: Sendable {
    private var requests = 0
    private var counts: [Excuse: Int] = [:]

    package init() {}

    package mutating func add(_ result: SeedResult) {
        requests += result.requests
        counts.merge(result.excuses, uniquingKeysWith: +)
    }

    private func percent(_ excuse: Excuse) -> Double {
        Double(counts[excuse, default: 0] * 100) / Double(max(1, requests))
    }

    /// The excuses that are used too often.
    package var exceeded: [String] {
        Excuse.allCases.filter { percent($0) > $0.percentMax }
            .map { "\($0.rawValue) \(percent($0)) %, at most \($0.percentMax) %" }
    }

    /// One line: the share of each, in percent.
    package var text: String {
        Excuse.allCases.map { excuse in
            let hundredths = Int((percent(excuse) * 100).rounded())
            let digits = hundredths % 100
            return "\(excuse.rawValue) \(hundredths / 100).\(digits < 10 ? "0" : "")\(digits) %"
        }.joined(separator: ", ")
    }
}
