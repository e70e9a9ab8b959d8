import Basics
import Gateway

/// The report of a rehearsal: for each endpoint the response statuses with their shares and durations, and
/// the failed calls.
package struct RehearsalReport {
    private let rehearsal: RehearsalRun
    private var lines: [String] = []

    package static func of(_ rehearsal: RehearsalRun) -> String {
        var report = RehearsalReport(rehearsal: rehearsal)
        report.write()
        return report.lines.map { $0 + "\n" }.joined()
    }

    private init(rehearsal: RehearsalRun) {
        self.rehearsal = rehearsal
    }

    private mutating func write() {
        let seconds = Int(rehearsal.duration.inNanoseconds / 1_000_000_000)
        lines.append(
            "\(rehearsal.requests.count) requests in \(seconds) s of virtual time, seed"
                + " \(rehearsal.settings.seed)")
        for (index, endpoint) in rehearsal.survey.endpoints.enumerated() {
            let requests = rehearsal.requests.filter { $0.endpoint == index }
            guard !requests.isEmpty else { continue }
            lines.append("")
            lines.append(endpoint.name)
            lines += endpoint.withoutSample.map {
                "  no sample value obeys the rules of \($0): requests that have it are invalid"
            }
            write(requests, isStreamed: rehearsal.hasDownloads(index))
        }
        guard let slowest else { return }
        lines.append("")
        lines.append("slowest   request \(slowest), see it with --only \(slowest) --trace")
    }

    private var slowest: Int? {
        var slowest: (number: Int, duration: Duration)?
        for request in rehearsal.requests {
            guard let duration = request.duration, duration > slowest?.duration ?? .zero else {
                continue
            }
            slowest = (request.number, duration)
        }
        return slowest?.number
    }

    private mutating func write(_ requests: [RehearsedRequest], isStreamed: Bool) {
        var outcomes: [(name: String, times: [Duration])] = []
        for request in requests {
            let name = request.outcome
            let time = request.duration ?? .zero
            if let index = outcomes.firstIndex(where: { $0.name == name }) {
                outcomes[index].times.append(time)
            } else {
                outcomes.append((name, [time]))
            }
        }
        outcomes.sort { $0.name < $1.name }
        var rows = [["response", "count", "share", "p50", "p90", "p99", "max"]]
        rows += outcomes.map { name, times in
            let share = times.count * 1000 / max(1, requests.count)
            return [name, "\(times.count)", "\(share / 10).\(share % 10)%"] + Self.quantiles(times)
        }
        if isStreamed {
            let times = requests.compactMap(\.timeToFirstByte)
            rows.append(["first byte", "\(times.count)", ""] + Self.quantiles(times))
        }
        lines += TextTable(rows, Self.columns).lines.map { "  " + $0 }
        write(failuresOf: requests)
    }

    private mutating func write(failuresOf requests: [RehearsedRequest]) {
        var counts: [(name: String, count: Int)] = []
        for failure in requests.flatMap(\.failures) {
            let status = failure.status.map { " \($0)" } ?? ""
            let name = "\(failure.call) \(failure.kind.rawValue)\(status)"
            if let index = counts.firstIndex(where: { $0.name == name }) {
                counts[index].count += 1
            } else {
                counts.append((name, 1))
            }
        }
        counts.sort { $0.count == $1.count ? $0.name < $1.name : $0.count > $1.count }
        for (name, count) in counts { lines.append("  failed: \(name), \(count) times") }
    }

    private static let columns: [TextTable.Column] =
        [.left(14, gap: 1)] + Array(repeating: .right(9, gap: 1), count: 6)

    private static func quantiles(_ times: [Duration]) -> [String] {
        let sorted = times.sorted()
        return [50, 90, 99, 100].map { percent in
            guard !sorted.isEmpty else { return "" }
            let index = max(0, (sorted.count * percent + 99) / 100 - 1)
            return sorted[min(index, sorted.count - 1)].millisecondsText
        }
    }
}

extension RehearsedRequest {
    /// `200`, `200 partial`, `504`
    var outcome: String {
        guard let response = sent?.response else {
            return client.unfinishedResponse.map { "\($0.status) broken off" } ?? "no response"
        }
        let isPartial = response.status < 300 && response["Gateway-Complete"] == "false"
        return "\(response.status)" + (isPartial ? " partial" : "")
    }

    /// The failures that the response lists.
    var failures: [ListedFailure] { sent?.response.map(ListedFailure.all) ?? [] }
}
