import Basics
import Promises
import Reactor
import SimReactor
import Testing

/// The simulated handshake: the results of TLS, in virtual time.
@Suite struct SimHandshakeTests {
    private let network = SimNetwork(seed: 1)

    private func security(_ serverName: String? = nil, verifies: Bool = true) -> StreamSecurity {
        StreamSecurity(configuration: [], verifies: verifies, serverName: serverName) {
            _, _, loop, _ in
            loop.local.error(IOFailure.tlsFailed("the real handshake must not run"))
        }.simulated
    }

    /// A handshake with a listener, and its result.
    private final class Attempt {
        let loop: SimLoop
        var listener: (any Listener)?
        var server: SimStream?
        var result: Result<any ByteStream, any Error>?

        init(on loop: SimLoop) { self.loop = loop }
    }

    /// Connects to a listener with this identity and starts a handshake.
    private func startHandshake(
        _ security: StreamSecurity, with identity: SimIdentity?, timeout: Duration? = nil
    ) throws -> Attempt {
        let loop = network.makeLoop("test")
        let attempt = Attempt(on: loop)
        let listener = try loop.listen(on: .loopback, sharedPort: false) { [unowned attempt] in
            attempt.server = $0 as? SimStream
        }
        attempt.listener = listener
        network.identities[listener.address] = identity
        let secured = loop.connect(to: listener.address)
            .then { security.secure($0, "host.test", loop) }
        (timeout.map { secured.timeout($0, error: IOFailure.timedOut) } ?? secured)
            .whenSettled { attempt.result = $0 }
        return attempt
    }

    /// Performs a handshake with a listener of this identity.
    private func handshake(
        _ security: StreamSecurity, with identity: SimIdentity?
    ) throws -> (result: Result<any ByteStream, any Error>?, server: SimStream?, loop: SimLoop) {
        let attempt = try startHandshake(security, with: identity)
        network.advance(by: .seconds(1))
        attempt.listener?.close()
        return (attempt.result, attempt.server, attempt.loop)
    }

    @Test(arguments: [nil, "alias.test"])
    func bothEndsKnowTheSession(_ serverName: String?) throws {
        let identity = SimIdentity(names: ["host.test", "alias.test"])
        let (result, server, _) = try handshake(security(serverName), with: identity)
        let client = try #require(try result?.get() as? SimStream)
        for end in [client, try #require(server)] {
            #expect(end.session?.serverName == serverName ?? "host.test")
            #expect(end.session?.certificateNames == ["host.test", "alias.test"])
            #expect(end.session?.applicationProtocol == "http/1.1")
        }
    }

    @Test func refusesACertificateForAnotherNameAndClosesTheStream() throws {
        let identity = SimIdentity(names: ["other.test"])
        let (result, server, loop) = try handshake(security(), with: identity)
        #expect(throws: IOFailure.certificateRefused("the certificate is for [\"other.test\"]")) {
            try result?.get()
        }
        #expect(server?.session == nil)
        server?.close()
        #expect(loop.leftovers == [])
    }

    @Test func acceptsAnyCertificateWithoutVerification() throws {
        let identity = SimIdentity(names: ["other.test"])
        let (result, _, _) = try handshake(security(verifies: false), with: identity)
        #expect((try result?.get() as? SimStream)?.session?.certificateNames == ["other.test"])
    }

    @Test func unansweredHandshakeEndsWithItsPromise() throws {
        var identity = SimIdentity(names: ["host.test"])
        identity.handshake = .silent
        let attempt = try startHandshake(
            security(), with: identity, timeout: .milliseconds(50))
        network.advance(by: .milliseconds(40))
        #expect(attempt.result == nil && attempt.server != nil, "it is under way")
        network.advance(by: .seconds(1))
        #expect(throws: IOFailure.timedOut) { try attempt.result?.get() }
        attempt.server?.close()
        attempt.listener?.close()
        #expect(network.runUntilQuiet() && attempt.loop.leftovers == [])
    }

    @Test func listenerWithoutTLSFailsTheHandshake() throws {
        let (result, _, _) = try handshake(security(), with: nil)
        #expect(throws: IOFailure.tlsFailed("the simulated handshake failed")) {
            try result?.get()
        }
    }
}
