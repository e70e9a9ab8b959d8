import Basics
import Rehearsal

/// What happened in a run, for somebody who reads: one line for each thing that a client, a backend or
/// the operator did, in order of time.
struct Transcript {
    private var lines: [(at: Double, text: String)] = []

    static func of(_ record: RunRecord) -> String {
        var story = Transcript()
        story.tellOperator(record)
        for client in record.clients { story.tell(client, record) }
        for attempt in record.attempts { story.tell(attempt, record) }
        for probe in record.probes { story.tell(probe, record) }
        let sorted = story.lines.enumerated().sorted {
            $0.element.at == $1.element.at
                ? $0.offset < $1.offset : $0.element.at < $1.element.at
        }
        return sorted.map { "\(padded($0.element.at)) ms  \($0.element.text)\n" }.joined()
    }

    private mutating func add(_ at: Double, _ text: String) { lines.append((at, text)) }

    private static func padded(_ at: Double) -> String {
        let text = "\(Double(Int(at * 1000)) / 1000)"
        return String(repeating: " ", count: max(0, 10 - text.utf8.count)) + text
    }

    private mutating func tellOperator(_ record: RunRecord) {
        add(0, "faults: \(record.rates.active.map(\.rawValue).joined(separator: ", "))")
        for at in record.reloads { add(Double(at), "the operator reloads") }
        if let drains = record.drains { add(Double(drains), "the operator drains") }
        for spell in record.weather.spells {
            let name = "\(spell.host.host):\(spell.host.port)"
            add(Double(spell.from), "\(name) \(spell.kind) until \(spell.to) ms")
        }
    }

    private mutating func tell(_ client: ClientRecord, _ record: RunRecord) {
        let name = "client \(client.number)"
        for request in client.sent {
            let drawn = request.request
            let target = drawn.bytes.prefix { $0 != 0x0D }.prefix(120)
            var text = "\(name) \(request.mark) > \(String(decoding: target, as: UTF8.self))"
            if let body = drawn.body { text += " with \(body.utf8.count) bytes" }
            if let flaw = drawn.flaw { text += " [\(flaw)]" }
            if drawn.isPipelined { text += " [pipelined]" }
            if let stall = drawn.stall { text += " [stalls \(stall.milliseconds) ms]" }
            if drawn.then != .waits { text += " [\(drawn.then)]" }
            add(record.ms(request.began), text)
            guard let answer = request.answer, let received = request.received else { continue }
            let written = request.answered.map { ", written at \(record.ms($0)) ms" } ?? ""
            add(
                record.ms(received),
                "\(name) \(request.mark) < \(answer.status)\(written) "
                    + String(decoding: answer.body.prefix(300), as: UTF8.self))
        }
        if client.neverConnected { add(Double(client.start) / 1000, "\(name) is refused") }
        if let left = client.left { add(record.ms(left), "\(name) leaves") }
        if let closed = client.wasClosed { add(record.ms(closed), "\(name) sees the end") }
    }

    private mutating func tell(_ attempt: AttemptRecord, _ record: RunRecord) {
        tell(attempt, "  \(attempt.mark) \(attempt.call.text) attempt \(attempt.ordinal)", record)
    }

    private mutating func tell(_ probe: ProbeRecord, _ record: RunRecord) {
        tell(probe, "  a check", record)
    }

    private mutating func tell(_ served: any HostRequestRecord, _ name: String, _ record: RunRecord)
    {
        let place = "b\(served.backend) host \(served.host)"
        var text = "\(name) at \(place), from \(served.worker): \(served.act.summary)"
        if served.before > 0 { text += " [request \(served.before + 1) of its connection]" }
        if served.isPoisoned { text += " [poisoned]" }
        add(record.ms(served.sent), text)
        if let ended = served.ended {
            let isRead = served.read == ended
            add(record.ms(ended), "\(name) \(isRead ? "is answered" : "is given up")")
        }
    }
}

extension Act {
    /// `answers 200 after 3 ms`
    fileprivate var summary: String {
        var text: String
        switch outcome {
        case .nothing: text = "says nothing"
        case .answer(let status, let body, let tree):
            text = "answers \(status), \(body.count) bytes" + (tree == nil ? " of no JSON" : "")
        case .fails(let kind): text = "fails with \(kind.rawValue)"
        }
        if delay > 0 { text += " after \(delay) ms" }
        if pieces.count > 1, gap > 0 { text += " in \(pieces.count) pieces, \(gap) ms apart" }
        if ending != .stays { text += ", \(ending)" }
        if let afterwards { text += ", then \(afterwards.kind) after \(afterwards.delay) ms" }
        return text + (isPoisonous ? ", with unasked bytes" : "")
    }
}
