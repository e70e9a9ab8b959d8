import Rehearsal
import Testing

@testable import Simulation

/// The rule for what follows a malformed message: the gateway cannot know where the next request begins.
@Suite struct ResponsesCheckTests {
    /// The violations in a run of which one client is replaced.
    private func violations(
        in record: RunRecord, replacing client: ClientRecord? = nil
    ) -> [Violation] {
        let clients = record.clients.map { $0.number == client?.number ? client ?? $0 : $0 }
        let changed = RunRecord(
            plan: record.plan, began: record.began, ended: record.ended, network: record.network,
            workers: record.workers, clients: clients, attempts: record.attempts,
            probes: record.probes, log: record.log, recorded: record.recorded, hash: record.hash,
            violations: [])
        let log = ViolationLog()
        ResponsesCheck(record: changed, violations: log).check()
        return log.all
    }

    @Test func reportsResponseBehindMalformedMessage() throws {
        let record = Cluster(seed: 30_089_386).runToEnd()
        #expect(violations(in: record).isEmpty)

        let client = try #require(record.clients.first { $0.sent.contains { $0.number == 6 } })
        let malformed = try #require(client.sent.first { $0.number == 5 })
        let unanswered = try #require(client.sent.first { $0.number == 6 })
        #expect(malformed.request.endsConnection && malformed.response != nil)
        #expect(unanswered.read != nil && unanswered.response == nil)

        let changed = client.replacing(
            unanswered.copy(unanswered.request, response: client.sent[0].response))
        #expect(
            violations(in: record, replacing: changed).map(\.text).contains(
                "a response behind a malformed message"))
    }

    /// Nothing but the malformed message before it excuses a request that got no response.
    @Test func reportsMissingResponseBehindValidMessage() throws {
        let record = Cluster(seed: 30_089_386).runToEnd()
        let client = try #require(record.clients.first { $0.sent.contains { $0.number == 6 } })
        let malformed = try #require(client.sent.first { $0.number == 5 })
        var valid = malformed.request
        valid.defect = nil
        let changed = client.replacing(malformed.copy(valid, response: malformed.response))
        let texts = violations(in: record, replacing: changed).map(\.text)
        #expect(
            texts == ["closed without a response, although the gateway had read the whole request"])
    }
}

extension ClientRecord {
    /// The same connection with another record of one of its requests.
    fileprivate func replacing(_ request: RequestRecord) -> ClientRecord {
        ClientRecord(
            number: number, start: start, worker: worker,
            sent: sent.map { $0.number == request.number ? request : $0 },
            disconnected: disconnected,
            halfClosed: halfClosed, endSeen: endSeen, gatewayClosed: gatewayClosed,
            neverConnected: neverConnected, hasUnsolicited: hasUnsolicited)
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
