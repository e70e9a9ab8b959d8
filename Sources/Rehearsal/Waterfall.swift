import Basics
import Gateway
import SimReactor

/// One request of a rehearsal as a waterfall: each call is a bar on the time axis.
package struct Waterfall {
    private static let width = 50

    /// Nil if there is no request with this number.
    package static func of(_ number: Int, in rehearsal: RehearsalRun) -> String? {
        guard rehearsal.requests.indices.contains(number),
            let sent = rehearsal.requests[number].sent
        else { return nil }
        let attempts = rehearsal.attempts[number]
        let calls = rehearsal.survey.endpoints[rehearsal.requests[number].endpoint].calls
        let end = sent.received ?? attempts.compactMap(\.ended).max() ?? sent.began
        let line = sent.request.bytes.prefix { $0 != 0x0D }
        let bars = WaterfallBars(
            from: sent.began, to: end, scale: width, columns: width + 1, of: "=")
        let rows = attempts.map { attempt in
            row(
                attempt, calls[attempt.call.call], bars, from: sent.began, to: end,
                in: rehearsal.plan)
        }
        let duration = (end - sent.began).millisecondsText
        var lines = ["request \(number)   \(String(decoding: line, as: UTF8.self))"]
        lines += TextTable(rows, columns).lines
        lines.append("response  \(rehearsal.requests[number].outcome) after \(duration)")
        let request = rehearsal.requests[number]
        if rehearsal.hasDownloads(request.endpoint), let first = request.timeToFirstByte {
            lines.append("first byte after \(first.millisecondsText)")
        } else if let response = sent.response, !response.body.isEmpty {
            lines.append(String(decoding: response.body, as: UTF8.self))
        }
        return lines.map { $0 + "\n" }.joined()
    }

    /// Start, call, bar, duration, outcome; the target follows.
    private static let columns: [TextTable.Column] = [
        .left(9, gap: 1), .left(12, gap: 1), .left(gap: 1), .left(9, gap: 1), .left(10, gap: 1),
    ]

    private static func row(
        _ attempt: Attempt, _ call: ConfigSurvey.Call, _ bars: WaterfallBars, from start: Instant,
        to end: Instant, in plan: Plan
    ) -> [String] {
        let ended = attempt.ended ?? end
        let words = attempt.message.startLine.split(separator: " ")
        let request =
            words.count > 1
            ? "\(words[0]) "
                + plan.shownTarget(
                    String(words[1]), of: attempt.call.call, in: attempt.call.endpoint)
            : ""
        return [
            (attempt.sent - start).millisecondsText, call.name,
            bars.bar(from: attempt.sent, to: ended), (ended - start).millisecondsText,
            attempt.ending, request,
        ]
    }
}

extension Attempt {
    /// How the attempt ended, for the table.
    fileprivate var ending: String {
        switch script.outcome {
        case .response(let status, _, _) where read != nil: "\(status)"
        case .fails
        where givenUp != nil && stream.incomingJournal.closed.map { $0 >= arrived } ?? true:
            "broken off"
        case .response, .fails, .nothing: "given up"
        }
    }
}
