import Basics
import HTTP
import Promises
import Reactor

/// A connection during its TLS handshake. It has a place in the server's table, where a connection
/// for the requests replaces it.
///
/// The server's table and the timer's owner hold it. Confined to the loop's thread.
final class HandshakingConnection: ServedConnection {
    private let server: Server
    var slot: Int
    let countedClient: ClientCounts.Client?
    private let settings: ListenerSettings
    private let peer: SocketAddress?
    private var handshake: LocalPromise<AcceptedStream>?
    private var timer: Timer?
    /// When the present wait began: it is one for the client, unless the handshake is queued.
    private(set) var awaitsClientSince: Instant

    init(
        of server: Server, slot: Int, countedClient: ClientCounts.Client?,
        _ settings: ListenerSettings, from peer: SocketAddress?
    ) {
        self.server = server
        self.slot = slot
        self.countedClient = countedClient
        self.settings = settings
        self.peer = peer
        awaitsClientSince = server.loop.now
    }

    /// Performs the handshake, within its time limit.
    func startHandshake(_ security: ServerSecurity, over stream: any ByteStream) {
        timer = server.loop.timer(after: settings.handshakeTimeout) { [weak self] in
            self?.end(.timedOut)
        }
        server.changeWait(of: self, to: .client)
        let progress = HandshakeProgress(server.handshakeQueue)
        progress.waitChanged = { [weak self] party in self?.wait(for: party) }
        let handshake = security.accept(stream, nil, progress, server.loop)
        self.handshake = handshake
        handshake.whenSettled { [weak self] result in self?.handleResult(result) }
    }

    private func wait(for party: HandshakeProgress.Party) {
        // One that has ended may leave the queue of handshakes later.
        guard timer != nil else { return }
        awaitsClientSince = server.loop.now
        server.changeWait(of: self, to: party)
    }

    private func handleResult(_ result: Result<AcceptedStream, any Error>) {
        // After a timeout, the cancelled promise settles too.
        guard handshake.take() != nil else { return closeUnused(result) }
        timer.take()?.cancel()
        switch result {
        case .success(.secure(let stream, let session)):
            server.handshakes.record(.succeeded(session.version, isResumed: session.isResumed))
            let facts = ConnectionFacts(
                isSecure: true, identity: session.identity, redirect: settings.redirect)
            server.completeHandshake(self)
            begin(session.applicationProtocol, over: stream, facts)
        case .success(.plainText(let stream, let mayBeHead)):
            server.handshakes.record(.plainText)
            server.completeHandshake(self)
            let connection = connection(over: stream, settings.plainFacts)
            server.replace(self, by: connection)
            connection.rejectOpened(.unencrypted(mayBeHead: mayBeHead))
        case .failure(let error):
            let failure = error as? IOFailure ?? .cancelled
            server.handshakes.record(.failed)
            server.losses.count(failure)
            server.hooks.handshakeFailed(failure, peer)
            server.removeHandshake(self)
        }
    }

    /// Serves the protocol that the handshake has selected (RFC 9113 3.2).
    private func begin(
        _ applicationProtocol: String?, over stream: any ByteStream, _ facts: ConnectionFacts
    ) {
        guard applicationProtocol == "h2" else {
            let connection = connection(over: stream, facts)
            server.replace(self, by: connection)
            return connection.startReading()
        }
        guard
            let connection = H2ServerConnection(
                stream, of: server, slot: slot, countedClient: countedClient, facts: facts)
        else {
            stream.close()
            return server.remove(self)
        }
        server.replace(self, by: connection)
        connection.startReading()
    }

    private func connection(
        over stream: any ByteStream, _ facts: ConnectionFacts?
    ) -> ServerConnection {
        ServerConnection(
            stream, of: server, slot: slot, countedClient: countedClient, facts: facts)
    }

    /// The stream of a handshake that completed when the connection had ended already.
    private func closeUnused(_ result: Result<AcceptedStream, any Error>) {
        switch result {
        case .success(.secure(let stream, _)), .success(.plainText(let stream, _)): stream.close()
        case .failure: break
        }
    }

    /// Ends the handshake before its result.
    private func end(_ outcome: HandshakeCounts.Outcome) {
        guard let handshake = handshake.take() else { return }
        timer.take()?.cancel()
        handshake.cancel()
        server.handshakes.record(outcome)
        if outcome == .timedOut { server.hooks.handshakeFailed(.timedOut, peer) }
        server.removeHandshake(self)
    }

    // MARK: As a connection of the server

    var exchanges: [Exchange] { [] }

    /// A drain ends it: its request has not arrived, and clients repeat a failed handshake.
    func leaveIdle(_ reason: LeaveReason) { end(.cancelled) }

    func close() { end(.cancelled) }

    /// It is idle while it waits for its client.
    func hasWaited(_ duration: Duration, now: Instant) -> Bool {
        now - awaitsClientSince >= duration
    }

    var holdsMemory: Bool { true }

    /// It has no unsent output.
    func closeUnread() {}
    func readsOutput(now: Instant) -> Bool { true }
}
