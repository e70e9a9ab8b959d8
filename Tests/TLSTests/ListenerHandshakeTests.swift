import Basics
import Reactor
import TLS
import TestCertificates
import Testing

/// The handshakes of clients with a listener: certificates by name and key type, versions, protocols
/// and client certificates. In memory, against this module's client and OpenSSL's.
@Suite struct ListenerHandshakeTests {
    private func settings(
        _ names: [String] = ["shop", "shop-rsa", "partners"]
    ) throws -> TLSServerSettings {
        TLSServerSettings(certificates: try names.map { try Certificates.identity($0) })
    }

    private func pair(
        _ host: String, _ settings: TLSServerSettings, as client: String? = nil,
        trusting authority: String? = "authority.pem"
    ) throws -> EnginePair {
        let pair = try EnginePair(
            Certificates.trusting(authority, as: client), host: host,
            server: TLSServerContext(settings))
        pair.performHandshake()
        return pair
    }

    // MARK: Names

    @Test(arguments: [
        "shop.test", "SHOP.test", "a.shop.test", "partners.test", "exact.shop.test",
    ])
    func selectsCertificateByName(_ host: String) throws {
        let pair = try pair(host, settings())
        #expect(pair.isDone, "\(pair.clientState) \(pair.serverState)")
        #expect(pair.server.session.serverName?.lowercased() == host.lowercased())
    }

    /// The wildcard has one label; the first certificate is sent, which the client refuses.
    @Test(arguments: ["a.b.shop.test", "unknown.test"])
    func sendsFirstCertificateForUnknownName(_ host: String) throws {
        #expect(
            try pair(host, settings()).clientState
                == .failed(.certificateRefused("hostname mismatch")))
        #expect(try pair(host, settings(), trusting: nil).isDone, "the reason is the name")
    }

    @Test(arguments: ["unknown.test", "127.0.0.1"])
    func refusesUnknownNameWithAlert(_ host: String) throws {
        var settings = try settings()
        settings.refusesUnknownNames = true
        let refused = try pair(host, settings, trusting: nil)
        #expect(refused.clientState == .failed(.tlsFailed("tlsv1 unrecognized name")))
        #expect(refused.serverState == .failed(.tlsFailed("unknown server name")))
        #expect(try pair("partners.test", settings).isDone)
    }

    /// An exact name takes precedence over the wildcard of another certificate.
    @Test func exactNamePrecedesWildcard() throws {
        let other = try pair("exact.shop.test", settings(["shop", "partners"]))
        #expect(other.isDone)
        let withoutExact = try pair("exact.shop.test", settings(["shop"]))
        #expect(withoutExact.isDone, "the wildcard alone is valid, too")
    }

    // MARK: Sessions

    @Test func reportsSession() throws {
        let session = try pair("shop.test", settings()).server.session
        #expect(session.version == .tls13 && !session.isResumed)
        #expect(session.applicationProtocol == "http/1.1" && session.identity == nil)
    }

    /// The client of this module offers http/1.1.
    @Test func refusesUnknownProtocol() throws {
        var settings = try settings(["shop"])
        settings.protocols = ["h2"]
        #expect(
            try pair("shop.test", settings).clientState
                == .failed(.tlsFailed("tlsv1 alert no application protocol")))
        settings.protocols = ["h2", "http/1.1"]
        #expect(try pair("shop.test", settings).server.session.applicationProtocol == "http/1.1")
    }

    // MARK: Clients

    @Test func reportsIdentityOfClient() throws {
        var settings = try settings(["shop"])
        settings.clients = .init(
            authorities: try Certificates.file("authority.pem"), isRequired: true)
        let identity = try #require(
            try pair("shop.test", settings, as: "caller").server.session.identity)
        #expect(identity.name == "spiffe://shop.test/cart")
        #expect(
            identity.alternativeNames == [
                .init(.dns, "cart.test"), .init(.uri, "spiffe://shop.test/cart"),
            ])
        #expect(identity.certificate.count > 200 && identity.certificate[0] == 0x30)
        let subject = try pair("shop.test", settings, as: "client").server.session.identity
        #expect(subject?.name == "CN=client")
    }

    @Test(
        arguments: [
            (nil, true, false), (nil, false, true), ("caller", true, true), ("caller", false, true),
            ("unknown", true, false), ("unknown", false, false), ("server-only", true, false),
            ("server-only", false, false),
        ] as [(String?, Bool, Bool)])
    func verifiesClient(_ client: String?, isRequired: Bool, isAccepted: Bool) throws {
        var settings = try settings(["shop"])
        settings.clients = .init(
            authorities: try Certificates.file("authority.pem"), isRequired: isRequired)
        let pair = try pair("shop.test", settings, as: client)
        #expect((pair.serverState == .done) == isAccepted, "\(pair.serverState)")
    }

    // MARK: Truncation

    /// A handshake that ends after any byte neither completes nor fails by itself: it waits.
    @Test func waitsAfterEveryByteOfTheClient() throws {
        let context = try TLSServerContext(settings(["shop"]))
        let complete = try EnginePair(
            Certificates.trusting(), host: "shop.test", server: context)
        var sent: [UInt8] = []
        _ = complete.client.continueHandshake()
        let hello = complete.client.takeOutput()
        sent += hello.array
        for length in stride(from: 0, to: sent.count, by: 1) {
            let server = try context.engine(unixTime: Certificates.now)
            server.receive(Bytes(Array(sent[..<length])).span)
            #expect(server.continueHandshake() == .needsMore, "\(length) bytes")
            #expect(server.outgoingCount == 0, "\(length) bytes")
        }
        let server = try context.engine(unixTime: Certificates.now)
        server.receive(sent.span)
        #expect(server.continueHandshake() == .needsMore)
        #expect(server.outgoingCount > 0, "the complete message gets an answer")
    }
}
