/// Response times and their quantiles. A request without a time, because it has no whole response,
/// counts as the slowest.
struct ResponseTimes {
    let count: Int
    private let sorted: [Duration]

    init(_ times: [Duration?]) {
        count = times.count
        sorted = times.compactMap { $0 }.sorted()
    }

    /// The columns of reports: 100 percent is the maximum.
    static let columns: [(name: String, percent: Int)] = [
        ("p50", 50), ("p90", 90), ("p99", 99), ("max", 100),
    ]

    /// The smallest time that is not exceeded in this share of the requests; nil if one of them has
    /// no time, or without requests.
    func quantile(_ percent: Int) -> Duration? {
        let index = max(0, (count * percent + 99) / 100 - 1)
        return sorted.indices.contains(index) ? sorted[index] : nil
    }
}
