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
            _, _, loop in
            loop.local.error(IOFailure.tlsFailed("the real handshake must not run"))
        }.simulated
    }

    /// Connects to a listener with this identity and makes a handshake.
    private func handshake(
        _ security: StreamSecurity, with identity: SimIdentity?
    ) throws -> (result: Result<any ByteStream, any Error>?, server: SimStream?, loop: SimLoop) {
        let loop = network.makeLoop("test")
        var server: SimStream?
        let listener = try loop.listen(on: .loopback, sharedPort: false) { stream in
            server = stream as? SimStream
        }
        network.identities[listener.address] = identity
        var result: Result<any ByteStream, any Error>?
        loop.connect(to: listener.address).then { security.secure($0, "host.test", loop) }
            .whenSettled { result = $0 }
        network.advance(by: .seconds(1))
        return (result, server, loop)
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
        let loop = network.makeLoop("test")
        var server: SimStream?
        let listener = try loop.listen(on: .loopback, sharedPort: false) { stream in
            server = stream as? SimStream
        }
        network.identities[listener.address] = identity
        var result: Result<any ByteStream, any Error>?
        let security = security()
        loop.connect(to: listener.address).then { security.secure($0, "host.test", loop) }
            .timeout(.milliseconds(50), error: IOFailure.timedOut)
            .whenSettled { result = $0 }
        network.advance(by: .milliseconds(40))
        #expect(result == nil && server != nil, "it is under way")
        network.advance(by: .seconds(1))
        #expect(throws: IOFailure.timedOut) { try result?.get() }
        server?.close()
        listener.close()
        #expect(network.runUntilQuiet() && loop.leftovers == [])
    }

    @Test func listenerWithoutTLSFailsTheHandshake() throws {
        let (result, _, _) = try handshake(security(), with: nil)
        #expect(throws: IOFailure.tlsFailed("the simulated handshake failed")) {
            try result?.get()
        }
    }
}
