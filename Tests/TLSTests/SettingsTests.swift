import Basics
import TLS
import TestCertificates
import Testing

/// Error messages for unusable files.
@Suite struct SettingsTests {
    private func failure(
        trusted: String = "authority.pem", certificate: String? = nil, key: String? = nil,
        text: Bytes? = nil
    ) throws -> TLSSettingsError? {
        var settings = TLSSettings(trust: .signed(by: try text ?? Certificates.file(trusted)))
        if let certificate, let key {
            settings.identity = TLSIdentity(
                certificate: try Certificates.file(certificate), key: try Certificates.file(key))
        }
        do throws(TLSSettingsError) {
            _ = try TLSClientContext(settings)
            return nil
        } catch {
            return error
        }
    }

    @Test func acceptsValidFiles() throws {
        #expect(try failure(certificate: "client.pem", key: "client.key") == nil)
        #expect(try failure(certificate: "chain.pem", key: "chain.key") == nil)
    }

    @Test(arguments: ["", "nonsense", "-----BEGIN\n"])
    func refusesAFileWithoutCertificates(_ text: String) throws {
        #expect(try failure(text: Bytes(text)) == .trusted("holds no certificate (PEM)"))
    }

    @Test func refusesAKeyAsCertificate() throws {
        #expect(try failure(trusted: "client.key") == .trusted("holds no certificate (PEM)"))
        #expect(
            try failure(certificate: "client.key", key: "client.key")
                == .certificate("holds no certificate (PEM)"))
        #expect(
            try failure(certificate: "client.pem", key: "client.pem")
                == .key("holds no private key (PEM)"))
    }

    @Test(arguments: [("\nMI", "\nMA"), ("-----END", "")])
    func refusesAMalformedCertificate(_ part: String, _ other: String) throws {
        let good = String(try Certificates.file("authority.pem"))
        let bad = good.replacing(part, with: other)
        #expect(bad != good)
        let found = try failure(text: Bytes(good + bad))
        guard case .trusted(let words)? = found else {
            Issue.record("not refused as a trusted certificate: \(String(describing: found))")
            return
        }
        #expect(words.hasPrefix("holds a certificate that cannot be read: "))
    }

    @Test func refusesTheKeyOfAnotherCertificate() throws {
        #expect(
            try failure(certificate: "client.pem", key: "server.key")
                == .key("does not belong to the certificate"))
    }

    @Test func refusesAnEncryptedKey() throws {
        #expect(
            try failure(certificate: "client.pem", key: "locked.key")
                == .key("is encrypted; there is no prompt for its passphrase"))
    }

    @Test func sharesTheContextOfEqualSettings() throws {
        let contexts = TLSContexts()
        let settings = TLSSettings(trust: .signed(by: try Certificates.file("authority.pem")))
        let first = try contexts.context(for: settings)
        #expect(try contexts.context(for: settings) === first)
        #expect(try contexts.context(for: TLSSettings(trust: .unverified)) !== first)
    }

    @Test func equalSettingsHaveEqualSecurity() throws {
        let one = try Certificates.trusting().security
        #expect(try one == Certificates.trusting().security)
        #expect(try one != Certificates.trusting(nil).security)
        #expect(try one != Certificates.trusting(as: "client").security)
        #expect(try one != Certificates.trusting(name: "x").security)
    }

    @Test func descriptionsDoNotContainTheKey() throws {
        let identity = try Certificates.identity("client")
        let security = try Certificates.trusting(as: "client").security
        for text in ["\(identity)", "\(security)"] { #expect(!text.contains("count")) }
        var dumped = ""
        dump([identity], to: &dumped)
        dump([security], to: &dumped)
        #expect(!dumped.contains("UInt8") && !dumped.contains("chunk"))
    }

    /// The control for `descriptionsDoNotContainTheKey`: these words appear in dumps of bytes.
    @Test func dumpOfBytesContainsTheMarkers() throws {
        var dumped = ""
        dump([try Certificates.file("client.key")], to: &dumped)
        #expect(dumped.contains("UInt8") || dumped.contains("chunk"), "\(dumped.prefix(200))")
    }
}
