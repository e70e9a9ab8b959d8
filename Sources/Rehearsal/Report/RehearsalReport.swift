import Basics

/// The numbers of a rehearsal as a text for people.
extension RehearsalSummary {
    package var text: String { lines.map { $0 + "\n" }.joined() }

    private var lines: [String] {
        var lines = ["\(all.requests) requests in \(seconds) s of virtual time, seed \(seed)"]
        for endpoint in endpoints {
            lines += ["", endpoint.name]
            lines += endpoint.withoutSample.map {
                "  no sample value obeys the rules of \($0): requests that have it are invalid"
            }
            lines += TextTable(Self.rows(of: endpoint), Self.columns).lines.map { "  " + $0 }
            lines += endpoint.failures.map { "  failed: \($0.failure.title), \($0.count) times" }
        }
        guard let slowest else { return lines }
        return lines + [
            "", "slowest   request \(slowest), see it with --only \(slowest) --trace",
        ]
    }

    private static func rows(of endpoint: Endpoint) -> [[String]] {
        var rows = [["response", "count", "share"] + ResponseTimes.columns.map(\.name)]
        rows += endpoint.responses.map { name, times in
            let share = times.count * 1000 / max(1, endpoint.outcomes.requests)
            return [name, "\(times.count)", "\(share / 10).\(share % 10)%"] + cells(times)
        }
        if let times = endpoint.firstBytes {
            rows.append(["first byte", "\(times.count)", ""] + cells(times))
        }
        return rows
    }

    private static let columns: [TextTable.Column] =
        [.left(14, gap: 1)] + Array(repeating: .right(9, gap: 1), count: 6)

    private static func cells(_ times: ResponseTimes) -> [String] {
        ResponseTimes.columns.map { times.quantile($0.percent)?.millisecondsText ?? "" }
    }
}
