package import Basics
import Promises
package import Reactor

/// What a simulated client sends in its handshake with a listener: only what TLS makes of it, no
/// cryptography.
package struct SimHello: Sendable {
    /// The server name (SNI); nil for none.
    package var serverName: String?
    /// The offered application protocols (ALPN); empty for none.
    package var applicationProtocols: [String] = []
    /// The certificate of the client; nil if it has none.
    package var certificate: Certificate?
    package var behavior = Behavior.completes

    package struct Certificate: Sendable {
        package let identity: PeerIdentity
        /// Signed by a CA that the listener trusts.
        package let isTrusted: Bool

        package init(_ identity: PeerIdentity, isTrusted: Bool) {
            self.identity = identity
            self.isTrusted = isTrusted
        }
    }

    package enum Behavior: Sendable, Equatable {
        case completes
        /// Its part of the handshake is malformed.
        case fails
        /// It sends only a part of it.
        case stalls
    }

    package init() {}
}

/// What a simulated listener demands of a handshake.
package struct SimServerPolicy: Sendable {
    /// Whether a certificate has the name.
    package var names: [String]
    package var refusesUnknownNames = false
    package var applicationProtocols = ["http/1.1"]
    package var clients = Clients.ignored

    package enum Clients: Sendable { case ignored, optional, required }

    package init(names: [String]) { self.names = names }

    /// The result of a handshake; nil if it fails.
    package func session(for hello: SimHello) -> SecureSession? {
        guard hello.behavior == .completes else { return nil }
        let isKnown = hello.serverName.map(covers) ?? false
        if refusesUnknownNames, !isKnown { return nil }
        let offered = hello.applicationProtocols
        let common = applicationProtocols.first(where: offered.contains)
        if !offered.isEmpty, common == nil { return nil }
        var identity: PeerIdentity?
        if clients != .ignored {
            if clients == .required, hello.certificate == nil { return nil }
            if let certificate = hello.certificate {
                guard certificate.isTrusted else { return nil }
                identity = certificate.identity
            }
        }
        return SecureSession(
            version: .tls13, isResumed: false, serverName: hello.serverName,
            applicationProtocol: common, identity: identity)
    }

    private func covers(_ name: String) -> Bool {
        names.contains { known in
            guard known.hasPrefix("*.") else { return known == name }
            let rest = name.drop { $0 != "." }
            return rest == known.dropFirst() && rest.count < name.count
        }
    }
}

extension ServerSecurity {
    /// A simulated handshake, which takes a round trip.
    package static func simulated(_ policy: SimServerPolicy) -> ServerSecurity {
        ServerSecurity { stream, received, progress, loop in
            guard let stream = stream as? SimStream else {
                stream.close()
                return loop.local.error(IOFailure.tlsFailed("not a simulated connection"))
            }
            return SimServerHandshake.accept(stream, received, progress, policy)
        }
    }
}

/// A running handshake of a listener. The stream holds it until its end.
final class SimServerHandshake: ByteStreamDelegate {
    private var stream: SimStream?
    private var resolver: LocalResolver<AcceptedStream>?
    private let progress: HandshakeProgress
    private let policy: SimServerPolicy
    private var timer: Timer?
    private var hasBegun = false
    /// Whether it reads a stream that another delegate has begun to read.
    private var hasTakenOver = false

    static func accept(
        _ stream: SimStream, _ received: Bytes?, _ progress: HandshakeProgress,
        _ policy: SimServerPolicy
    ) -> LocalPromise<AcceptedStream> {
        let resolver = LocalResolver<AcceptedStream>(on: stream.loop.local)
        let promise = resolver.promise
        let handshake = SimServerHandshake(stream, resolver, progress, policy)
        stream.handshake = handshake
        if let received {
            handshake.takeOver(received)
        } else {
            handshake.streamChanged()
        }
        return promise
    }

    private init(
        _ stream: SimStream, _ resolver: consuming LocalResolver<AcceptedStream>,
        _ progress: HandshakeProgress, _ policy: SimServerPolicy
    ) {
        self.stream = stream
        self.progress = progress
        self.policy = policy
        resolver.onCancel { [self] _ in
            _ = self.resolver.take()
            takeStream()?.close()
        }
        self.resolver = consume resolver
    }

    /// Something has arrived: the client's part of the handshake, other bytes, or the end.
    func streamChanged() {
        guard let stream else { return }
        if stream.hasLostPeer { return fail(.connectionReset) }
        if let hello = stream.receivedHello {
            guard hello.behavior != .stalls else { return }
            return begin(hello)
        }
        if stream.hasReceivedBytes { stream.startReading(for: self) }
    }

    /// Takes over a stream whose former delegate has read these bytes. They are no part of a simulated
    /// handshake.
    private func takeOver(_ received: Bytes) {
        hasTakenOver = true
        stream?.replaceDelegate(with: self)
        received.isEmpty ? streamChanged() : streamReceived(received.span)
    }

    private func begin(_ hello: SimHello) {
        guard !hasBegun, let stream else { return }
        guard progress.queue.mayBegin else {
            return progress.awaitServer { [weak self] in self?.begin(hello) }
        }
        hasBegun = true
        progress.queue.recordBegin()
        progress.awaitClient()
        let network = stream.loop.network
        timer = stream.loop.timer(after: network.latency() + network.latency()) { [self] in
            complete(policy.session(for: hello))
        }
    }

    private func complete(_ session: SecureSession?) {
        guard let session else { return fail(.tlsFailed("the simulated handshake failed")) }
        guard stream?.hasLostPeer == false else { return fail(.connectionReset) }
        guard let stream = takeStream(), let resolver = resolver.take() else { return }
        // The encrypted stream is the same object, which nothing reads yet.
        if hasTakenOver { stream.delegateState = StreamDelegateState() }
        stream.confirmHandshake()
        resolver.fulfill(.secure(stream, session))
    }

    private func fail(_ failure: IOFailure) {
        takeStream()?.close()
        if let resolver = resolver.take() { resolver.reject(failure) }
    }

    private func takeStream() -> SimStream? {
        timer.take()?.cancel()
        stream?.handshake = nil
        return stream.take()
    }

    // MARK: HTTP without encryption

    func streamReceived(_ bytes: Span<UInt8>) {
        stream?.pauseReading()
        guard let stream = takeStream(), let resolver = resolver.take() else { return }
        resolver.fulfill(.plainText(stream, mayBeHead: AcceptedStream.mayBeHead(bytes)))
    }

    func streamEnded() { fail(.connectionReset) }

    func streamBlocked() {}

    func streamDrained() {}

    func streamFailed(_ failure: IOFailure) {
        _ = takeStream()
        if let resolver = resolver.take() { resolver.reject(failure) }
    }
}
