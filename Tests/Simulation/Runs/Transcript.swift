import Basics
import Rehearsal

/// The event log of a run: one line for each action of a client, a backend or the operator, in
/// order of time.
struct Transcript {
    private var lines: [(at: Double, text: String)] = []

    static func of(_ record: RunRecord) -> String {
        var transcript = Transcript()
        transcript.addOperatorEvents(record)
        for client in record.clients { transcript.add(client, record) }
        for attempt in record.attempts { transcript.add(attempt, record) }
        for probe in record.probes { transcript.add(probe, record) }
        for model in StreamModel.all(in: record) { transcript.add(model) }
        let sorted = transcript.lines.enumerated().sorted {
            $0.element.at == $1.element.at
                ? $0.offset < $1.offset : $0.element.at < $1.element.at
        }
        return sorted.map { "\(padded($0.element.at)) ms  \($0.element.text)\n" }.joined()
    }

    mutating func add(_ at: Double, _ text: String) { lines.append((at, text)) }

    private static func padded(_ at: Double) -> String {
        let text = "\(Double(Int(at * 1000)) / 1000)"
        return String(repeating: " ", count: max(0, 10 - text.utf8.count)) + text
    }

    private mutating func addOperatorEvents(_ record: RunRecord) {
        add(0, "faults: \(record.rates.active.map(\.rawValue).joined(separator: ", "))")
        for at in record.reloads { add(Double(at), "reload") }
        if let drains = record.drains { add(Double(drains), "drain") }
        for outage in record.hostOutages.all {
            let name = "\(outage.host.host):\(outage.host.port)"
            add(Double(outage.from), "\(name) \(outage.kind.text) until \(outage.to) ms")
        }
    }

    private mutating func add(_ client: ClientRecord, _ record: RunRecord) {
        let name = "client \(client.number)"
        for request in client.sent where request.stream == nil {
            let drawn = request.request
            let target = drawn.bytes.prefix { $0 != 0x0D }.prefix(120)
            var text = "\(name) \(request.mark) > \(String(decoding: target, as: UTF8.self))"
            if let body = drawn.body { text += " with \(body.utf8.count) bytes" }
            if let defect = drawn.defect { text += " [\(defect)]" }
            if drawn.isPipelined { text += " [pipelined]" }
            if let stall = drawn.stall { text += " [pauses \(stall.milliseconds) ms]" }
            if drawn.afterSending != .waits { text += " [\(drawn.afterSending)]" }
            add(record.ms(request.began), text)
            guard let response = request.response, let received = request.received else { continue }
            let written = request.responded.map { ", written at \(record.ms($0)) ms" } ?? ""
            add(
                record.ms(received),
                "\(name) \(request.mark) < \(response.status)\(written) "
                    + String(decoding: response.body.prefix(300), as: UTF8.self))
        }
        if client.neverConnected { add(Double(client.start) / 1000, "\(name) cannot connect") }
        if let disconnected = client.disconnected {
            add(record.ms(disconnected), "\(name) disconnects")
        }
        if let closed = client.endSeen {
            add(record.ms(closed), "\(name) sees the end of the connection")
        }
    }

    private mutating func add(_ attempt: AttemptRecord, _ record: RunRecord) {
        add(attempt, "  \(attempt.mark) \(attempt.call.text) attempt \(attempt.ordinal)", record)
    }

    private mutating func add(_ probe: ProbeRecord, _ record: RunRecord) {
        add(probe, "  health check", record)
    }

    private mutating func add(_ request: HostRequest, _ name: String, _ record: RunRecord) {
        let host = "b\(request.backend) host \(request.host)"
        var text = "\(name) at \(host), from \(request.worker): \(request.script.summary)"
        if request.before > 0 { text += " [request \(request.before + 1) of its connection]" }
        if request.isAmbiguous { text += " [after unsolicited data]" }
        add(record.ms(request.sent), text)
        if let ended = request.ended {
            let isRead = request.read == ended
            add(record.ms(ended), "\(name) \(isRead ? "has its response" : "is cancelled")")
        }
    }
}

extension ScriptedResponse {
    /// `responds 200, 12 bytes after 3 ms`
    fileprivate var summary: String {
        var text: String
        switch outcome {
        case .nothing: text = "never responds"
        case .response(let status, let body, let tree):
            text = "responds \(status), \(body.count) bytes" + (tree == nil ? ", no JSON" : "")
        case .fails(let kind): text = "fails with \(kind.rawValue)"
        }
        if delay > 0 { text += " after \(delay) ms" }
        if pieces.count > 1, gap > 0 { text += " in \(pieces.count) pieces, \(gap) ms apart" }
        if ending != .stays { text += ", \(ending)" }
        if let idleEvent { text += ", then \(idleEvent.kind) after \(idleEvent.delay) ms" }
        return text + (hasTrailingData ? ", with trailing data" : "")
    }
}
