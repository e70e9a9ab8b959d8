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
            } + streamClients.map(ClientRecord.init) + http2Clients.map(ClientRecord.init),
            attempts: attempts.map(AttemptRecord.init),
            streamAttempts: streamAttempts.map(StreamAttempt.init),
            probes: probes.map(ProbeRecord.init),
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

extension HostRequestFacts {
    fileprivate init(_ request: HostRequest) {
        self.init(
            backend: request.backend, host: request.host, prefix: request.target.prefix,
            worker: request.worker, message: request.message, script: request.script,
            sent: request.sent,
            read: request.read, ended: request.ended, session: request.stream.session,
            before: request.before,
            isAmbiguous: request.isAmbiguous,
            reusesSpoiledConnection: request.reusesSpoiledConnection,
            mayBeResent: request.mayBeResent, http2: HTTP2Facts(request))
    }
}

extension HTTP2Facts {
    /// Nil over HTTP/1.1.
    fileprivate init?(_ request: HostRequest) {
        guard let http2 = request.http2 else { return nil }
        self.init(
            wasRefused: http2.wasRefused, wasLost: request.wasLost,
            hasReadHead: request.hasReadHead, connectionEnd: http2.connectionEnd,
            hostClosed: http2.hostClosed, isLimited: http2.isLimited)
    }
}

extension AttemptRecord {
    fileprivate init(_ attempt: Attempt) {
        self.init(
            facts: HostRequestFacts(attempt), request: attempt.request, mark: attempt.mark,
            call: attempt.call, ordinal: attempt.ordinal)
    }
}

extension ProbeRecord {
    fileprivate init(_ probe: Probe) {
        self.init(
            facts: HostRequestFacts(probe), generation: probe.generation, isHealthy: probe.isHealthy
        )
    }
}
