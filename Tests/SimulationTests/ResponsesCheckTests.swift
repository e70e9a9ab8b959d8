import Rehearsal
import Testing

@testable import Simulation

/// The rule for what follows a malformed message: the gateway cannot know where the next request begins.
@Suite struct ResponsesCheckTests {
    /// The violations in a run of which one client is replaced.
    private func violations(
        in record: RunRecord, replacing client: ClientRecord
    ) -> [Violation] {
        let clients = record.clients.map { $0.number == client.number ? client : $0 }
        let changed = RunRecord(
            plan: record.plan, began: record.began, ended: record.ended, network: record.network,
            workers: record.workers, clients: clients, attempts: record.attempts,
            probes: record.probes, log: record.log, recorded: record.recorded, hash: record.hash,
            violations: [])
        let log = ViolationLog()
        ResponsesCheck(record: changed, violations: log).check()
        return log.all
    }

    /// A run, and one of its connections: two requests that got their responses, and the end.
    private func connection() throws -> (record: RunRecord, client: ClientRecord) {
        for seed in 1...200 as ClosedRange<UInt64> {
            let record = Cluster(seed: seed).runToEnd()
            let isSlow = record.rates[.slowReaders] > 0 || record.rates[.smallWindows] > 0
            guard record.drains == nil, !isSlow else { continue }
            let client = record.clients.first { client in
                client.sent.count > 1 && client.disconnected == nil && client.halfClosed == nil
                    && client.sent.prefix(2).allSatisfy {
                        $0.request.defect == nil && $0.read != nil && $0.response != nil
                            && $0.response?["Connection"] == nil
                    }
            }
            if let client { return (record, client) }
        }
        throw Missing()
    }

    private struct Missing: Error {}

    private func violations(
        ofMalformed isMalformed: Bool, hasSecondResponse: Bool
    ) throws -> [String] {
        let (record, client) = try connection()
        var first = client.sent[0].request
        if isMalformed {
            first.defect = .badChunk
            first.body = "{}"
        }
        let second = client.sent[1]
        let changed = client.replacing([
            client.sent[0].copy(first, response: client.sent[0].response),
            second.copy(second.request, response: hasSecondResponse ? second.response : nil),
        ])
        return violations(in: record, replacing: changed).map(\.text)
    }

    @Test func reportsResponseBehindMalformedMessage() throws {
        let texts = try violations(ofMalformed: true, hasSecondResponse: true)
        #expect(texts == ["a response behind a malformed message"])
        #expect(try violations(ofMalformed: true, hasSecondResponse: false).isEmpty)
    }

    /// Nothing but the malformed message before it excuses a request that got no response.
    @Test func reportsMissingResponseBehindValidMessage() throws {
        let texts = try violations(ofMalformed: false, hasSecondResponse: false)
        #expect(
            texts == ["closed without a response, although the gateway had read the whole request"])
        #expect(try violations(ofMalformed: false, hasSecondResponse: true).isEmpty)
    }
}

extension ClientRecord {
    /// The same connection with other requests, ended by the gateway.
    fileprivate func replacing(_ requests: [RequestRecord]) -> ClientRecord {
        ClientRecord(
            number: number, start: start, worker: worker, sent: requests, disconnected: nil,
            halfClosed: nil, endSeen: requests.last?.received, gatewayClosed: nil,
            neverConnected: false, hasUnsolicited: false)
    }
}

extension RequestRecord {
    /// The same record of another request with another response.
    fileprivate func copy(_ request: ScriptedRequest, response: PeerMessage?) -> RequestRecord {
        RequestRecord(
            request: request, index: index, bytes: bytes, worker: worker, began: began,
            firstRead: firstRead, read: read, response: response, responded: responded,
            received: received, clientDisconnected: clientDisconnected)
    }
}
