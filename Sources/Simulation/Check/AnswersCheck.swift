import Basics
import Rehearsal

/// Each request got exactly one answer, its own, or its connection was closed; and closed for a reason.
struct AnswersCheck {
    let record: RunRecord
    let violations: ViolationLog

    func run() {
        for client in record.clients {
            for request in client.sent { check(request, client) }
        }
    }

    private func check(_ request: RequestRecord, _ client: ClientRecord) {
        guard let answer = request.answer else { return checkUnanswered(request, client) }
        let earlier = client.sent.prefix(request.place)
        if earlier.contains(where: \.request.isMalformed) {
            violations.add(.answers, request.mark, "answered behind a malformed message")
        }
        // A message that is none has no id that could be trusted.
        if request.request.flaw == nil, let id = answer["X-Request-Id"], id != request.mark,
            answer.status != 408, answer.status != 400, answer.status != 503
        {
            violations.add(.marks, request.mark, "answered with the id \(id)")
        }
        guard let text = String(validating: answer.body, as: UTF8.self) else {
            return violations.add(.contents, request.mark, "the body is no UTF-8")
        }
        // Behind a word that nobody asked for, answers may have moved on by one, and nobody can tell.
        if record.attempts(of: request).contains(where: \.isPoisoned) { return }
        for other in marks(in: text) where other != request.mark {
            if mayHaveTaken(other, request) { continue }
            violations.add(.marks, request.mark, "the answer has bytes of \(other): \(text)")
        }
        for value in answer.all("ETag") + answer.all("Set-Cookie") {
            for other in marks(in: value) where other != request.mark {
                if mayHaveTaken(other, request) { continue }
                violations.add(.marks, request.mark, "the answer has a header of \(other)")
            }
        }
    }

    /// Whether another's mark may stand in an answer: a call went out on a connection where something
    /// unasked with that mark was on its way, took it for its answer, and closed before the backend had
    /// read the request.
    private func mayHaveTaken(_ mark: String, _ request: RequestRecord) -> Bool {
        guard let index = request.request.endpoint else { return false }
        let attempts = record.attempts(of: request)
        return record.configs(for: request).contains { config in
            if let served = attempts.first, served.call.generation != config.generation {
                return false
            }
            let model = RequestModel(request: request.request, config: config)
            return config.endpoints[index].calls.contains { call in
                model.isWanted(call) && isUnasked(mark, at: call.backend)
                    && !attempts.contains { $0.call.call == call.index }
            }
        }
    }

    /// Whether a backend ever said such a mark unasked: in a word behind an answer, whose mark its head
    /// has, or in an answer that came behind such a word.
    private func isUnasked(_ mark: String, at backend: Int) -> Bool {
        record.attempts.contains {
            guard $0.backend == backend else { return false }
            return mark == "smuggled"
                ? $0.act.isPoisonous : $0.mark == mark && ($0.act.isPoisonous || $0.isPoisoned)
        }
    }

    /// Everything in a text that looks like a mark: `"r12"`, `a=r12`.
    private func marks(in text: String) -> [String] {
        text.utf8.split { !Self.isWord($0) }.filter { word in
            word.first == UInt8(ascii: "r") && word.count > 1
                && word.dropFirst().allSatisfy { (0x30...0x39).contains($0) }
                || word.elementsEqual("smuggled".utf8)
        }.map { String(Substring($0)) }
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || byte >= 0x80
    }

    private func checkUnanswered(_ request: RequestRecord, _ client: ClientRecord) {
        if client.left != nil || client.halfClosed != nil { return }
        guard client.wasClosed != nil else {
            return violations.add(.answers, request.mark, "neither an answer nor an end")
        }
        // Behind an answer that says close, a message that is none, or the end of the gateway.
        let earlier = client.sent.prefix(request.place)
        if earlier.contains(where: { $0.answer?["Connection"] == "close" }) { return }
        if record.drains != nil { return }
        if earlier.contains(where: mayEndItsConnection) { return }
        if client.hasUnsolicited { return }
        guard request.read != nil else { return }
        if mayHaveReadTooSlowly(request, client) { return }
        // A connection may be closed for being idle while a request is under way.
        if let closed = client.gatewayClosed, let began = request.firstRead, closed <= began {
            return
        }
        violations.add(
            .answers, request.mark, "closed without an answer, and the whole request was read")
    }

    /// Whether the client may have been cut off because it left an answer unread for too long: after
    /// `write_timeout`, or after a tenth of a second where memory is short.
    private func mayHaveReadTooSlowly(_ request: RequestRecord, _ client: ClientRecord) -> Bool {
        guard record.rates[.slowReaders] > 0 || record.rates[.smallWindows] > 0,
            let read = request.read, let closed = client.wasClosed
        else { return false }
        let timeouts = record.configs.compactMap(\.limits.writeTimeout)
        let limits = timeouts + (record.mayLackRoom ? [100] : [])
        guard let least = limits.min() else { return false }
        return closed - read >= .milliseconds(least)
    }

    /// Whether the connection may have ended behind this request although its response did not say so:
    /// the gateway responded before it read the body, and the body, which does not state its length,
    /// then turned out to be malformed, or too long to be discarded.
    private func mayEndItsConnection(_ request: RequestRecord) -> Bool {
        if request.request.flaw == .badChunk { return request.answer != nil }
        return request.request.isChunked && (request.request.body?.utf8.count ?? 0) > 64 * 1024
    }
}
