import Basics
import Rehearsal

/// A request over HTTP/2 without a response: its stream or its connection ended for a known reason.
struct HTTP2ResponsesCheck {
    let record: RunRecord
    let client: ClientRecord
    let request: RequestRecord
    let http2: HTTP2RequestRecord

    /// Why there must be a response; nil if it may be missing.
    var fault: String? {
        let hasLeft = http2.wasReset || client.disconnected != nil || client.halfClosed != nil
        if isExcused(.clientLeft, if: hasLeft) { return nil }
        if isExcused(.unsolicitedData, if: client.hasUnsolicited) { return nil }
        if let code = http2.resetCode { return fault(ofReset: code) }
        if let excluded = http2.excluded { return fault(ofExclusion: excluded) }
        guard let closed = client.gatewayClosed, client.endSeen != nil else {
            return "neither a response nor the end of its stream"
        }
        return mayEnd(at: closed)
            ? nil : "its connection was closed, although the gateway had read the whole request"
    }

    private func isExcused(_ excuse: Excuse, if applies: Bool) -> Bool {
        record.excuses.add(excuse, request, if: applies)
    }

    private func fault(ofReset code: Int) -> String? {
        switch PeerCode(rawValue: code) {
        case .protocolError where [.noHost, .badField].contains(request.request.defect): return nil
        case .refusedStream where record.configs.contains { $0.limits.streamsPerConnection != nil }:
            return nil
        // A connection that holds its share of the memory gets no further streams.
        case .refusedStream where isExcused(.memory, if: record.mayLackRoom): return nil
        case .cancel where isExcused(.slowClient, if: isTooSlow(until: http2.resetWritten)):
            return nil
        case .enhanceYourCalm
        where isExcused(.slowClient, if: mayBeEndedForOthers(at: http2.resetWritten)):
            return nil
        default: return "its stream was reset with \(code)"
        }
    }

    /// GOAWAY excludes only what the gateway had not read, unless a fault of the client ends the connection.
    private func fault(ofExclusion excluded: Instant) -> String? {
        if request.firstRead.map({ excluded <= $0 }) ?? true { return nil }
        return mayEnd(at: excluded) ? nil : "excluded by GOAWAY, although the gateway had read it"
    }

    private func mayEnd(at end: Instant) -> Bool {
        if isExcused(.drain, if: record.drains != nil) { return true }
        let isSlow = isTooSlow(until: end) || mayLeaveUnread(until: end)
        if isExcused(.slowClient, if: isSlow) { return true }
        // The head of a request was not complete in time, which ends the connection for all.
        let hasUnfinishedHead = client.sent.contains { other in
            other.http2.map { $0.headRead.map { $0 >= end } ?? true } ?? false
        }
        if isExcused(.closedConnection, if: hasUnfinishedHead)
            || isExcused(.memory, if: record.mayLackRoom)
        {
            return true
        }
        return request.firstRead.map { end <= $0 } ?? true
    }

    /// Whether the client may have left the response to another request unread for too long, which ends
    /// the connection for all.
    private func mayLeaveUnread(until end: Instant) -> Bool {
        guard record.rates[.slowReaders] > 0 || record.rates[.smallWindows] > 0,
            let began = client.sent.filter({ $0.http2?.responseEnded.map { $0 >= end } ?? true })
                .compactMap(\.firstRead).min()
        else { return false }
        let timeouts = record.configs.map { $0.limits.writeTimeout ?? 30_000 }
        return timeouts.min().map { end - began >= .milliseconds($0) } ?? false
    }

    /// Whether the client may have left the response in the gateway for long enough that a limit which is
    /// short ends it.
    private func mayBeEndedForOthers(at end: Instant?) -> Bool {
        guard let end, let began = request.firstRead else { return false }
        return record.rates[.slowReaders] > 0 && end - began >= .milliseconds(100)
    }

    /// Whether the client, by not reading or by not sending, may have exceeded a time limit.
    private func isTooSlow(until end: Instant?) -> Bool {
        guard let end, let began = request.firstRead else { return false }
        let timeouts = record.configs.flatMap { config in
            [
                config.limits.writeTimeout ?? 30_000, config.limits.bodyTimeout ?? 5_000,
                config.limits.headerTimeout ?? 10_000,
            ]
        }
        let limits = timeouts + (record.mayLackRoom ? [100] : [])
        return limits.min().map { end - began >= .milliseconds($0) } ?? false
    }
}
