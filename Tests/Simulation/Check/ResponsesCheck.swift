import Basics
import Rehearsal

/// Each request gets exactly one response, its own, or its connection is closed for a known reason.
struct ResponsesCheck {
    let record: RunRecord
    let violations: ViolationLog

    func check() {
        for client in record.clients {
            for request in client.sent { check(request, client) }
        }
    }

    private func check(_ request: RequestRecord, _ client: ClientRecord) {
        guard let response = request.response else {
            // `StreamOutcomeCheck` checks those of streams.
            return request.stream == nil ? checkMissingResponse(request, client) : ()
        }
        let earlier = client.sent.prefix(request.index)
        if request.http2 == nil, earlier.contains(where: \.request.endsConnection) {
            violations.add(.responses, request.mark, "a response behind a malformed message")
        }
        // Rejected messages have no request id, nor do responses of the server itself.
        if request.request.defect == nil, let id = response["X-Request-Id"], id != request.mark,
            ![400, 408, 431, 503].contains(response.status)
        {
            violations.add(.marks, request.mark, "the response has the id \(id)")
        }
        guard let text = String(validating: response.body, as: UTF8.self) else {
            return violations.add(.contents, request.mark, "the body is not valid UTF-8")
        }
        // Behind unsolicited data, responses cannot be assigned to requests.
        let isAmbiguous = record.attempts(of: request).contains(where: \.isAmbiguous)
        if record.excuses.add(.unsolicitedData, request, if: isAmbiguous) { return }
        for other in marks(in: text) where other != request.mark {
            let isExcused = mayContainMark(other, request)
            if record.excuses.add(.unsolicitedData, request, if: isExcused) { continue }
            violations.add(.marks, request.mark, "the response has bytes of \(other): \(text)")
        }
        for value in response.all("ETag") + response.all("Set-Cookie") {
            for other in marks(in: value) where other != request.mark {
                let isExcused = mayContainMark(other, request)
                if record.excuses.add(.unsolicitedData, request, if: isExcused) { continue }
                violations.add(.marks, request.mark, "the response has a header field of \(other)")
            }
        }
    }

    /// Whether a response may contain the mark of another request: a call was sent on a connection while
    /// unsolicited data with that mark was in transit, took that data for its response, and closed the
    /// connection before the backend had read the request.
    private func mayContainMark(_ mark: String, _ request: RequestRecord) -> Bool {
        let attempts = record.attempts(of: request)
        return record.configs(for: request).contains { config in
            if let first = attempts.first, first.call.generation != config.generation {
                return false
            }
            guard let endpoint = config.endpoint(of: request.request) else { return false }
            let conditions = ConditionModel(
                record: record, request: request, endpoint: endpoint, config: config)
            return endpoint.calls.contains { call in
                conditions.canBeMade(call) && isUnsolicited(mark, at: call.backend)
                    && !attempts.contains { $0.call.call == call.index }
            }
        }
    }

    /// Whether a backend ever sent unsolicited data with this mark: behind a response, or in a response
    /// that followed unsolicited data.
    private func isUnsolicited(_ mark: String, at backend: Int) -> Bool {
        record.attempts.contains {
            guard $0.backend == backend else { return false }
            return mark == "smuggled"
                ? $0.script.hasTrailingData
                : $0.mark == mark && ($0.script.hasTrailingData || $0.isAmbiguous)
        }
    }

    /// All marks in a text, as in `"r12"` and `a=r12`.
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

    private func checkMissingResponse(_ request: RequestRecord, _ client: ClientRecord) {
        if let http2 = request.http2 {
            let check = HTTP2ResponsesCheck(
                record: record, client: client, request: request, http2: http2)
            if let fault = check.fault { violations.add(.responses, request.mark, fault) }
            return
        }
        let hasLeft = client.disconnected != nil || client.halfClosed != nil
        if record.excuses.add(.clientLeft, request, if: hasLeft) { return }
        guard client.endSeen != nil else {
            return violations.add(
                .responses, request.mark, "neither a response nor the end of the connection")
        }
        guard let excuse = excuse(request, client) else {
            return violations.add(
                .responses, request.mark,
                "closed without a response, although the gateway had read the whole request")
        }
        record.excuses.add(excuse, request)
    }

    /// Why the gateway may have closed the connection without a response.
    private func excuse(_ request: RequestRecord, _ client: ClientRecord) -> Excuse? {
        // Behind `Connection: close`, during a drain, or behind a body that ended the connection.
        let earlier = client.sent.prefix(request.index)
        if earlier.contains(where: { $0.response?["Connection"] == "close" }) {
            return .closedConnection
        }
        if record.drains != nil { return .drain }
        if earlier.contains(where: mayEndItsConnection) || request.read == nil {
            return .closedConnection
        }
        if client.hasUnsolicited { return .unsolicitedData }
        if mayHaveReadTooSlowly(request, client) { return .slowClient }
        if mayHaveMissedRefusal(request) { return .serverLimit }
        // The connection may have been closed as idle before the gateway read the request.
        if let closed = client.gatewayClosed, let began = request.firstRead, closed <= began {
            return .closedConnection
        }
        return nil
    }

    /// Whether the gateway may have closed the connection because the client left a response unread for
    /// too long: after `write_timeout`, or after 100 ms when `buffered_bytes` is exhausted.
    private func mayHaveReadTooSlowly(_ request: RequestRecord, _ client: ClientRecord) -> Bool {
        guard record.rates[.slowReaders] > 0 || record.rates[.smallWindows] > 0,
            let began = request.firstRead, let closed = client.endSeen
        else { return false }
        let timeouts = record.configs.compactMap(\.limits.writeTimeout)
        let limits = timeouts + (record.mayLackRoom ? [100] : [])
        guard let least = limits.min() else { return false }
        // A response may be written before the whole request is read.
        return closed - began >= .milliseconds(least)
    }

    /// Whether the connection may have got its 503 before any request, because there were too many: it is
    /// closed soon after, even if the client does not read and its window is full.
    private func mayHaveMissedRefusal(_ request: RequestRecord) -> Bool {
        guard case .pausesReading = request.request.afterSending else { return false }
        return record.rates[.smallWindows] > 0
            && record.configs.contains { $0.limits.limitsConnections }
    }

    /// Whether the connection may have ended behind this request although the response did not announce
    /// it: the gateway responded before it read the body, and the body, which does not state its length,
    /// then turned out to be malformed, or too long to be discarded.
    private func mayEndItsConnection(_ request: RequestRecord) -> Bool {
        if request.request.defect == .badChunk { return request.response != nil }
        return request.request.isChunked && (request.request.body?.utf8.count ?? 0) > 64 * 1024
    }
}
