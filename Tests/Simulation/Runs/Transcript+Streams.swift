import Assembly
import Basics
import HTTP
import Rehearsal
import SimReactor

/// The lines about streamed requests.
extension Transcript {
    mutating func add(_ model: StreamModel) {
        let record = model.record
        func add(_ at: Instant, _ text: String) { self.add(record.ms(at), text) }
        let (request, stream) = (model.request, model.stream)
        let head = request.request.bytes.prefix { $0 != 0x0D }
        add(
            request.began,
            "stream \(model.mark) > \(String(decoding: head, as: UTF8.self))\(stream.script.text)")
        if let read = stream.requestRead { add(read, "stream \(model.mark) is read to its end") }
        for attempt in model.attempts { self.add(attempt, record) }
        if let response = request.response, let responded = request.responded {
            add(responded, "stream \(model.mark) < \(response.startLine)")
        }
        if let received = request.received ?? stream.endSeen {
            let kind = stream.isComplete ? "complete" : "incomplete"
            add(received, "stream \(model.mark) has \(stream.received) bytes, \(kind)")
        }
        if let left = stream.left { add(left, "stream \(model.mark): its client leaves") }
        if let recorded = model.recorded, let ended = model.endedAt {
            let end = model.loggedEnd.map { ", end=\($0)" } ?? ""
            add(
                ended,
                "stream \(model.mark) is logged: \(recorded.status) \(recorded.outcome.name)\(end)")
        }
    }

    private mutating func add(_ attempt: StreamAttempt, _ record: RunRecord) {
        let name = "  \(attempt.key.mark) attempt \(attempt.key.ordinal)"
        add(
            record.ms(attempt.sentAt),
            "\(name) at s\(attempt.backend) host \(attempt.host), from \(attempt.worker):\(attempt.script.text)"
        )
        if let head = attempt.headRead { add(record.ms(head), "\(name): the gateway has its head") }
        if let ended = attempt.ended {
            add(
                record.ms(ended),
                "\(name) \(attempt.read == ended ? "is complete" : "is closed"), the host got"
                    + " \(attempt.received) and sent \(attempt.sent) bytes")
        }
    }
}

extension StreamScript {
    /// For the transcript.
    fileprivate var text: String {
        var text = upload.framing == .none ? "" : " with\(upload.text)"
        if uploadDelay > 0 { text += ", body after \(uploadDelay) ms" }
        text += reading.text
        if let leaving { text += ", \(leaving.kind) \(leaving.when)" }
        if upgrades { text += ", upgrades, tunnel with\(tunnel.text)" }
        return text
    }
}

extension StreamResponseScript {
    /// For the transcript.
    fileprivate var text: String {
        var text = interim.isEmpty ? "" : " interim \(interim.map { "\($0.status)" }),"
        text += " \(outcome)"
        if outcome == .responds { text += " \(upgrade == nil ? status : 101)" }
        text += " at \(trigger) + \(delay) ms,\(body.text)\(reading.text)"
        if isHTTP10 { text += ", HTTP/1.0" }
        return text + (closesConnection ? ", closes" : "")
    }
}

extension BodyScript {
    fileprivate var text: String {
        var text = " \(length) bytes (\(framing)), pieces of \(pieceMax), \(pause) ms apart"
        if let longPause { text += ", \(longPause.milliseconds) ms at \(longPause.at)" }
        return ending == .complete ? text : text + ", \(ending)"
    }
}

extension ReadingScript {
    fileprivate var text: String {
        pauses.map { pause in
            ", reads not after \(pause.after) for \(pause.milliseconds.map { "\($0) ms" } ?? "ever")"
        }.joined()
    }
}
