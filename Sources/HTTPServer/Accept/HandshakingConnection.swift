import Basics
import HTTP
import Promises
import Reactor

/// The stage of a listener with TLS: the handshake, which yields the encrypted stream and the protocol of
/// the requests.
final class TLSStage: AcceptStage {
    fileprivate let security: ServerSecurity
    /// The time limit of a handshake.
    fileprivate let timeout: Duration
    /// Where requests are sent; nil to serve them.
    fileprivate let redirect: HTTPSRedirect?
    fileprivate let handshakes: Handshakes

    init(
        _ security: ServerSecurity, timeout: Duration, redirect: HTTPSRedirect?,
        _ handshakes: Handshakes
    ) {
        self.security = security
        self.timeout = timeout
        self.redirect = redirect
        self.handshakes = handshakes
    }

    func connection(for input: StageInput, in pipeline: AcceptPipeline) -> any AcceptingConnection {
        HandshakingConnection(input, in: pipeline, at: self)
    }
}

/// A connection during its TLS handshake.
///
/// The server's table and the timer's owner hold it. Confined to the loop's thread.
final class HandshakingConnection: AcceptingConnection {
    var input: StageInput
    let pipeline: AcceptPipeline
    private let stage: TLSStage
    private var handshake: LocalPromise<AcceptedStream>?
    private var timer: Timer?
    /// When the present wait began: it is one for the client, unless the handshake is queued.
    private(set) var awaitsClientSince: Instant

    init(_ input: StageInput, in pipeline: AcceptPipeline, at stage: TLSStage) {
        self.input = input
        self.pipeline = pipeline
        self.stage = stage
        awaitsClientSince = pipeline.server.loop.now
    }

    private var server: ServerContext { pipeline.server }
    private var table: ConnectionTable { pipeline.table }
    private var handshakes: Handshakes { stage.handshakes }

    /// Performs the handshake, within its time limit.
    func begin(_ received: Span<UInt8>) {
        handshakes.add()
        timer = server.loop.timer(after: stage.timeout) { [weak self] in
            self?.end(.timedOut)
        }
        changeWait(to: .client)
        let progress = HandshakeProgress(handshakes.queue)
        progress.waitChanged = { [weak self] party in self?.wait(for: party) }
        let handshake = stage.security.accept(
            input.stream, input.isBeingRead ? Bytes(copying: received) : nil, progress,
            server.loop)
        self.handshake = handshake
        handshake.whenSettled { [weak self] result in self?.handleResult(result) }
    }

    private func wait(for party: HandshakeProgress.Party) {
        // One that has ended may leave the queue of handshakes later.
        guard timer != nil else { return }
        awaitsClientSince = server.loop.now
        changeWait(to: party)
    }

    /// While it waits for its client, it is idle.
    private func changeWait(to party: HandshakeProgress.Party) {
        table.updateActivity(at: slot, from: .idle, to: party == .client ? .idle : .busy)
        handshakes.changeWait(of: slot, to: party)
    }

    private func handleResult(_ result: Result<AcceptedStream, any Error>) {
        // After a timeout, the cancelled promise settles too.
        guard handshake.take() != nil else { return closeUnused(result) }
        timer.take()?.cancel()
        switch result {
        case .success(.secure(let stream, let session)):
            handshakes.counts.record(.succeeded(session.version, isResumed: session.isResumed))
            leaveHandshakes()
            input.replaceStream(with: stream)
            input.acceptance.facts = ConnectionFacts(
                isSecure: true, identity: session.identity, redirect: stage.redirect,
                tlsVersion: session.version.text, listener: input.acceptance.facts?.listener)
            // RFC 9113 3.2
            input.applicationProtocol = session.applicationProtocol == "h2" ? .http2 : .http1
            pipeline.passOn(input)
        case .success(.plainText(let stream, let mayBeHead)):
            handshakes.counts.record(.plainText)
            leaveHandshakes()
            input.stream = stream
            pipeline.reject(input, .unencrypted(mayBeHead: mayBeHead))
        case .failure(let error):
            let failure = error as? IOFailure ?? .cancelled
            handshakes.counts.record(.failed)
            server.losses.count(failure)
            server.hooks.handshakeFailed(failure, input.stream.peer)
            remove()
        }
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
        handshakes.counts.record(outcome)
        if outcome == .timedOut { server.hooks.handshakeFailed(.timedOut, input.stream.peer) }
        remove()
    }

    private func remove() {
        leaveHandshakes()
        table.remove(self)
    }

    private func leaveHandshakes() {
        table.removeActivity(at: slot)
        handshakes.remove(slot)
    }

    // MARK: As a connection of the server

    /// A drain ends it: its request has not arrived, and clients repeat a failed handshake.
    func leaveIdle(_ reason: LeaveReason) { end(.cancelled) }

    func close() { end(.cancelled) }

    /// It is idle while it waits for its client.
    func hasWaited(_ duration: Duration, now: Instant) -> Bool {
        now - awaitsClientSince >= duration
    }

    var holdsMemory: Bool { true }
}
