import Basics
import Gateway
import GatewayConfig
import SimReactor

/// One request of a rehearsal with its calls, each as a bar along the time.
package struct Waterfall {
    private static let width = 50

    /// Nil for a request that there is not.
    package static func of(_ number: Int, in rehearsal: RehearsalRun) -> String? {
        guard rehearsal.requests.indices.contains(number),
            let sent = rehearsal.requests[number].sent
        else { return nil }
        let attempts = rehearsal.attempts[number]
        let calls = rehearsal.survey.endpoints[rehearsal.requests[number].endpoint].calls
        let end = sent.received ?? attempts.compactMap(\.ended).max() ?? sent.began
        let line = sent.request.bytes.prefix { $0 != 0x0D }
        var text = "request \(number)   \(String(decoding: line, as: UTF8.self))\n"
        for attempt in attempts {
            text += row(attempt, calls[attempt.call.call], from: sent.began, to: end)
        }
        let duration = RehearsalReport.text(end - sent.began)
        text += "answer    \(rehearsal.requests[number].outcome) after \(duration)\n"
        if let answer = sent.answer, !answer.body.isEmpty {
            text += String(decoding: answer.body, as: UTF8.self) + "\n"
        }
        return text
    }

    private static func row(
        _ attempt: Attempt, _ call: ConfigSurvey.Call, from start: Instant, to end: Instant
    ) -> String {
        let total = max(1, (end - start).inNanoseconds)
        func place(_ moment: Instant) -> Int {
            Int(min(total, max(0, (moment - start).inNanoseconds)) * Int64(width) / total)
        }
        let ended = attempt.ended ?? end
        let (first, last) = (place(attempt.sent), max(place(ended), place(attempt.sent) + 1))
        let bar =
            String(repeating: " ", count: first) + String(repeating: "=", count: last - first)
        let words = attempt.message.startLine.split(separator: " ")
        let target = words.count > 1 ? words[0] + " " + words[1] : ""
        return RehearsalReport.text(attempt.sent - start).padded(to: 9) + " "
            + call.name.padded(to: 12) + " |" + bar.padded(to: width + 1) + "| "
            + RehearsalReport.text(ended - start).padded(to: 9) + " "
            + attempt.ending.padded(to: 10) + " " + target + "\n"
    }
}

extension Attempt {
    /// How it ended, in a word.
    fileprivate var ending: String {
        switch act.outcome {
        case .answer(let status, _, _) where read != nil: "\(status)"
        case .fails where givenUp != nil && stream.heard.closed.map { $0 >= arrived } ?? true:
            "broken off"
        case .answer, .fails, .nothing: "given up"
        }
    }
}
