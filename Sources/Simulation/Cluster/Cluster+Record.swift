import Rehearsal
import SimReactor

/// Copies what happened into values, while the connections are still known.
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
            },
            attempts: attempts.map(AttemptRecord.init), probes: probes.map(ProbeRecord.init),
            log: journal.lines, hash: trace.hash, violations: violations)
    }
}

extension ClientRecord {
    fileprivate init(_ client: SimulatedClient, hasUnsolicited: Bool) {
        self.init(
            number: client.script.number, start: client.script.start, worker: client.worker,
            sent: client.sent.map(RequestRecord.init), left: client.left,
            halfClosed: client.halfClosed, wasClosed: client.wasClosed,
            gatewayClosed: client.stream?.incomingJournal.closed,
            neverConnected: client.neverConnected,
            hasUnsolicited: hasUnsolicited)
    }
}

extension RequestRecord {
    fileprivate init(_ sent: SentRequest) {
        self.init(
            request: sent.request, place: sent.place, bytes: sent.bytes, worker: sent.client.worker,
            began: sent.began, firstRead: sent.firstRead, read: sent.read, answer: sent.answer,
            answered: sent.answered, received: sent.received, clientLeft: sent.client.left)
    }
}

extension ServedRecord {
    fileprivate init(_ served: Served) {
        self.init(
            backend: served.backend, host: served.host, prefix: served.asked.prefix,
            worker: served.worker, message: served.message, act: served.act, sent: served.sent,
            read: served.read, ended: served.ended, session: served.stream.session,
            before: served.before,
            isPoisoned: served.isPoisoned, isReckless: served.isReckless,
            mayBeResent: served.mayBeResent)
    }
}

extension AttemptRecord {
    fileprivate init(_ attempt: Attempt) {
        self.init(
            served: ServedRecord(attempt), request: attempt.request, mark: attempt.mark,
            call: attempt.call, ordinal: attempt.ordinal)
    }
}

extension ProbeRecord {
    fileprivate init(_ probe: Probe) {
        self.init(
            served: ServedRecord(probe), generation: probe.generation, isGood: probe.isGood)
    }
}
