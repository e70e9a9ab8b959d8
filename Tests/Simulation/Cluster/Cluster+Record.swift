import Rehearsal
import SimReactor

/// Builds the record of the run: copies events into values while the connections still exist.
extension Cluster {
    func record() -> RunRecord {
        RunRecord(
            plan: plan, began: began, ended: network.clock.now, network: network.settings,
            workers: workers.map {
                WorkerRecord(
                    name: $0.loop.name, installations: $0.installations, drains: $0.drains,
                    ended: $0.ended)
            },
            clients: clients.map { client in
                ClientRecord(
                    client, hasUnsolicited: unsolicited.contains { $0 === client })
            } + peers.map(ClientRecord.init),
            attempts: attempts,
            streamAttempts: streamAttempts,
            probes: probes,
            log: journal.lines, recorded: workers.flatMap(\.recorded), hash: trace.hash,
            violations: violations)
    }
}

extension ClientRecord {
    fileprivate init(_ client: SimulatedClient, hasUnsolicited: Bool) {
        self.init(
            number: client.script.number, start: client.script.start, worker: client.worker,
            sent: client.sent.map(RequestRecord.init), disconnected: client.disconnected,
            halfClosed: client.halfClosed, endSeen: client.endSeen,
            gatewayClosed: client.stream?.incomingJournal.closed,
            neverConnected: client.neverConnected,
            hasUnsolicited: hasUnsolicited)
    }
}

extension RequestRecord {
    fileprivate init(_ sent: SentRequest) {
        self.init(
            request: sent.request, index: sent.index, bytes: sent.bytes, worker: sent.client.worker,
            began: sent.began, firstRead: sent.firstRead, read: sent.read, response: sent.response,
            responded: sent.responded, received: sent.received, taken: sent.responseTaken,
            clientDisconnected: sent.client.disconnected)
    }
}
