import Basics
import Promises
package import Reactor

/// The TLS identity of a simulated listener: only the results of TLS, no cryptography.
package struct SimIdentity: Sendable {
    /// The names in its certificate.
    package var names: [String]
    /// The application protocols that it accepts, in its order of preference.
    package var applicationProtocols = ["http/1.1"]
    /// The response to a handshake.
    package var handshake = Handshake.completes

    package enum Handshake: Sendable {
        case completes
        /// Responds with an alert.
        case fails
        /// Never responds.
        case silent
    }

    package init(names: [String]) { self.names = names }
}

/// The result of a handshake, known at both ends of a connection.
package struct SimSession: Sendable {
    /// The server name that the client requested (SNI, RFC 6066 section 3).
    package let serverName: String
    /// The names in the certificate of the server.
    package let certificateNames: [String]
    /// The application protocol (ALPN, RFC 7301); nil without one that both have.
    package let applicationProtocol: String?
}

extension StreamSecurity {
    /// The same configuration with a simulated handshake, which takes one round trip.
    package var simulated: StreamSecurity {
        let (verifies, serverName) = (verifies, serverName)
        return StreamSecurity(
            configuration: configuration, verifies: verifies, serverName: serverName
        ) {
            stream, host, loop, protocols in
            guard let stream = stream as? SimStream else {
                stream.close()
                return loop.local.error(IOFailure.tlsFailed("not a simulated connection"))
            }
            return SimHandshake.perform(
                stream, for: serverName ?? host, verifies: verifies, offering: protocols)
        }
    }
}

/// A running handshake, which owns the stream until it completes.
final class SimHandshake {
    private var stream: SimStream?
    private var resolver: LocalResolver<any ByteStream>?
    private let name: String
    private let verifies: Bool
    private let protocols: ApplicationProtocols

    static func perform(
        _ stream: SimStream, for name: String, verifies: Bool,
        offering protocols: ApplicationProtocols
    ) -> LocalPromise<any ByteStream> {
        let resolver = LocalResolver<any ByteStream>(on: stream.loop.local)
        let promise = resolver.promise
        SimHandshake(stream, resolver, name, verifies, protocols).scheduleEnd()
        return promise
    }

    private init(
        _ stream: SimStream, _ resolver: consuming LocalResolver<any ByteStream>, _ name: String,
        _ verifies: Bool, _ protocols: ApplicationProtocols
    ) {
        self.stream = stream
        self.name = name
        self.protocols = protocols
        self.verifies = verifies
        resolver.onCancel { [self] _ in
            _ = self.resolver.take()
            self.stream.take()?.close()
        }
        self.resolver = consume resolver
    }

    private func scheduleEnd() {
        guard let stream else { return }
        let network = stream.loop.network
        let identity = stream.peer.flatMap { network.identities[$0] }
        if identity?.handshake == .silent { return }
        stream.loop.timer(after: network.latency() + network.latency()) { [self] in
            complete(identity)
        }
    }

    private func complete(_ identity: SimIdentity?) {
        guard let stream = stream.take(), let resolver = resolver.take() else { return }
        if let failure = failure(stream, identity) {
            stream.close()
            resolver.reject(failure)
        } else {
            stream.setSession(
                SimSession(
                    serverName: name, certificateNames: identity?.names ?? [],
                    applicationProtocol: identity.flatMap(selected(by:))))
            resolver.fulfill(stream)
        }
    }

    private func selected(by identity: SimIdentity) -> String? {
        identity.applicationProtocols.first(where: protocols.names.contains)
    }

    private func failure(_ stream: SimStream, _ identity: SimIdentity?) -> IOFailure? {
        if stream.hasLostPeer { return .connectionReset }
        guard let identity, identity.handshake == .completes else {
            return .tlsFailed("the simulated handshake failed")
        }
        guard !verifies || identity.names.contains(name) else {
            return .certificateRefused("the certificate is for \(identity.names)")
        }
        return nil
    }
}
