import Basics
import Reactor
import TLS
import TestCertificates
import Testing

/// Handshakes in memory, and the verification of certificates.
@Suite struct HandshakeTests {
    @Test func handshakeCompletes() throws {
        let pair = try EnginePair()
        pair.performHandshake()
        #expect(pair.isDone)
    }

    @Test func handshakeCompletesByteByByte() throws {
        let pair = try EnginePair()
        pair.performHandshake { $0.singleBytes }
        #expect(pair.isDone)
    }

    @Test func keepsDataThatFollowsTheHandshake() throws {
        let pair = try EnginePair()
        #expect(pair.client.continueHandshake() == .needsMore)
        pair.server.receive(pair.client.takeOutput().span)
        #expect(pair.server.continueHandshake() == .needsMore)
        pair.client.receive(pair.server.takeOutput().span)
        #expect(pair.client.continueHandshake() == .done)
        // The end of the client's handshake and its first data arrive together.
        #expect(pair.client.send("early"))
        pair.server.receive(pair.client.takeOutput().span)
        #expect(pair.server.continueHandshake() == .done)
        #expect(pair.server.hasInput)
        #expect(String(decoding: pair.server.readAll().text, as: UTF8.self) == "early")
    }

    @Test func clientSendsServerNameAndALPN() throws {
        let pair = try EnginePair()
        #expect(pair.client.continueHandshake() == .needsMore)
        let hello = String(decoding: pair.client.takeOutput().array, as: UTF8.self)
        #expect(hello.contains("backend.test") && hello.contains("http/1.1"))
    }

    // MARK: Names

    @Test(arguments: ["backend.test", "BACKEND.test", "backend.test.", "a.wild.test"])
    func acceptsANameOfTheCertificate(_ host: String) throws {
        let pair = try EnginePair(host: host)
        pair.performHandshake()
        #expect(pair.isDone)
    }

    @Test(arguments: ["127.0.0.1", "::1"]) func acceptsAnAddressOfTheCertificate(_ host: String)
        throws
    {
        let pair = try EnginePair(host: host)
        pair.performHandshake()
        #expect(pair.isDone)
    }

    @Test(arguments: [
        ("other.test", "hostname mismatch"), ("a.b.wild.test", "hostname mismatch"),
        ("wild.test", "hostname mismatch"), ("127.0.0.2", "IP address mismatch"),
        ("::2", "IP address mismatch"),
    ])
    func refusesAnotherName(host: String, words: String) throws {
        let pair = try EnginePair(host: host)
        pair.performHandshake()
        #expect(pair.clientState == .failed(.certificateRefused(words)))
        #expect(pair.serverState != .needsMore, "the server gets an alert")
    }

    /// RFC 9110 4.3.4: only a complete DNS name of the subjectAltName is a name. The common name of
    /// these certificates is backend.test.
    @Test(arguments: [
        ("common-name", "backend.test"), ("other-kinds", "backend.test"),
        ("odd-names", "backend.test"), ("odd-names", "localhost"),
    ])
    func refusesCertificateWithoutMatchingDNSName(server: String, host: String) throws {
        let pair = try EnginePair(host: host, server: Certificates.server(server))
        pair.performHandshake()
        #expect(pair.clientState == .failed(.certificateRefused("hostname mismatch")))
    }

    @Test(arguments: ["10.0.0.1", "2001:db8::1"])
    func refusesAddressWrittenAsDNSName(_ host: String) throws {
        let pair = try EnginePair(host: host, server: Certificates.server("odd-names"))
        pair.performHandshake()
        #expect(pair.clientState == .failed(.certificateRefused("IP address mismatch")))
    }

    /// Positive control: the same certificates are accepted without verification, and by a valid name.
    @Test func acceptsSameCertificatesWhereNameIsNotTheReason() throws {
        for server in ["common-name", "other-kinds", "odd-names"] {
            let unchecked = try EnginePair(
                Certificates.trusting(nil), server: Certificates.server(server))
            unchecked.performHandshake()
            #expect(unchecked.isDone, "\(server) without verification")
        }
        let wildcard = try EnginePair(
            host: "a.backend.test", server: Certificates.server("odd-names"))
        wildcard.performHandshake()
        #expect(wildcard.isDone, "a wildcard for a whole label counts")
    }

    @Test func verifiesTheConfiguredServerName() throws {
        let pair = try EnginePair(Certificates.trusting(name: "backend.test"), host: "10.0.0.1")
        pair.performHandshake()
        #expect(pair.isDone)
    }

    @Test func refusesAnInvalidServerName() throws {
        let context = try Certificates.trusting()
        #expect(throws: IOFailure.self) {
            _ = try context.engine(
                for: String(repeating: "x", count: 300), unixTime: Certificates.now)
        }
    }

    // MARK: Trust

    @Test func refusesAnUnknownAuthority() throws {
        let pair = try EnginePair(server: Certificates.server("unknown"))
        pair.performHandshake()
        #expect(
            pair.clientState
                == .failed(.certificateRefused("unable to get local issuer certificate")))
    }

    @Test func acceptsAnyCertificateWithoutVerification() throws {
        let context = try Certificates.trusting(nil)
        let pair = try EnginePair(context, host: "any", server: Certificates.server("unknown"))
        pair.performHandshake()
        #expect(pair.isDone)
    }

    @Test(arguments: [
        (4_733_510_400, "certificate has expired"), (1_546_300_800, "certificate is not yet valid"),
    ])
    func refusesCertificatesOutsideTheirValidity(unixTime: Int, words: String) throws {
        let pair = try EnginePair(unixTime: unixTime)
        pair.performHandshake()
        #expect(pair.clientState == .failed(.certificateRefused(words)))
    }

    @Test func followsTheCertificateChain() throws {
        let pair = try EnginePair(server: Certificates.server("chain"))
        pair.performHandshake()
        #expect(pair.isDone)
    }

    @Test func acceptsACertificateThatIsItselfTrusted() throws {
        let pair = try EnginePair(Certificates.trusting("server.pem"))
        pair.performHandshake()
        #expect(pair.isDone)
    }

    // MARK: Clients

    @Test func clientSendsItsCertificate() throws {
        let pair = try EnginePair(
            Certificates.trusting(as: "client"), server: Certificates.server(asking: true))
        pair.performHandshake()
        #expect(pair.isDone)
    }

    @Test(arguments: [nil, "unknown"]) func serverRefusesAnUnknownClient(_ client: String?) throws {
        let pair = try EnginePair(
            Certificates.trusting(as: client), server: Certificates.server(asking: true))
        pair.performHandshake()
        guard case .failed = pair.serverState else {
            Issue.record("the server did not refuse: \(pair.serverState)")
            return
        }
        // TLS 1.3: the client completes before the server verifies it, and gets the alert when it
        // reads.
        let end = pair.client.readAll().end
        guard case .failed(.tlsFailed(let words)) = end else {
            Issue.record("the client received no alert: \(end)")
            return
        }
        #expect(words.contains("alert"), "\(words)")
    }
}
