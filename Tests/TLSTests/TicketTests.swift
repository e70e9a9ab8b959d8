import Basics
import COpenSSL
import Reactor
import TestCertificates
import Testing

@testable import TLS

/// Session tickets: keys, rotation, reloads, and what a ticket must not carry to another listener.
@Suite struct TicketTests {
    private static let now = Certificates.now
    private static let hour = 3600

    /// A client of OpenSSL, which keeps the session of its last connection.
    private final class Client {
        private let context: OpaquePointer?
        private var session: OpaquePointer?

        init(version: CInt, as name: String? = nil) throws {
            context = SSL_CTX_new(TLS_client_method())
            SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(version), nil)
            SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(version), nil)
            if let name {
                let identity = try TLSCertificate(try Certificates.identity(name), index: 0)
                SSL_CTX_use_cert_and_key(
                    context, identity.certificate, identity.key, identity.chain, 0)
            }
        }

        deinit {
            SSL_SESSION_free(session)
            SSL_CTX_free(context)
        }

        /// Connects with the session of the last connection; returns what the server agreed on.
        func connect(
            to server: TLSServerContext, _ keys: TLSTicketKeys?, at time: Int
        ) throws -> SecureSession {
            let engine = try server.engine(unixTime: time, tickets: keys)
            let ssl = try #require(SSL_new(context))
            defer { SSL_free(ssl) }
            let (incoming, outgoing) = (BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()))
            SSL_set_bio(ssl, incoming, outgoing)
            SSL_set_connect_state(ssl)
            tributary_ssl_set_name(ssl, "shop.test")
            if let session { SSL_set_session(ssl, session) }
            var isDone = false
            for _ in 0..<6 {
                if SSL_do_handshake(ssl) == 1 {
                    // Reads the tickets of TLS 1.3, which follow the handshake.
                    var byte: UInt8 = 0
                    _ = SSL_read(ssl, &byte, 1)
                }
                var buffer = [UInt8](repeating: 0, count: 32 * 1024)
                let count = Int(BIO_read(outgoing, &buffer, CInt(buffer.count)))
                if count > 0 {
                    buffer.removeLast(buffer.count - count)
                    engine.receive(buffer.span)
                }
                if !isDone, engine.continueHandshake() == .done { isDone = true }
                engine.takeOutgoing { bytes in
                    bytes.withUnsafeBufferPointer {
                        _ = BIO_write(incoming, $0.baseAddress, CInt($0.count))
                    }
                }
            }
            try #require(isDone)
            SSL_SESSION_free(session)
            session = SSL_get1_session(ssl)
            // Else the session counts as failed and is not resumed.
            SSL_set_shutdown(ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN)
            return engine.session
        }
    }

    private func context(
        _ change: (inout TLSServerSettings) throws -> Void = { _ in }
    ) throws -> TLSServerContext {
        var settings = TLSServerSettings(certificates: [try Certificates.identity("shop")])
        settings.ticketLifetime = .seconds(Self.hour)
        settings.listener = "127.0.0.1:443"
        try change(&settings)
        return try TLSServerContext(settings)
    }

    static let versions = [TLS1_2_VERSION, TLS1_3_VERSION]

    @Test(arguments: versions) func resumesAcrossReload(_ version: CInt) throws {
        let (client, keys) = (try Client(version: version), TLSTicketKeys())
        #expect(try !client.connect(to: context(), keys, at: Self.now).isResumed)
        // A reload creates a new context with other certificates.
        let renewed = try context { $0.certificates.append(try Certificates.identity("shop-rsa")) }
        #expect(try client.connect(to: renewed, keys, at: Self.now).isResumed)
    }

    @Test(arguments: versions) func otherProcessMakesFullHandshake(_ version: CInt) throws {
        let client = try Client(version: version)
        _ = try client.connect(to: context(), TLSTicketKeys(), at: Self.now)
        #expect(try !client.connect(to: context(), TLSTicketKeys(), at: Self.now).isResumed)
    }

    /// The former key decrypts for one more lifetime.
    @Test(arguments: [(3599, true), (3600, true), (7199, true), (7200, false), (90_000, false)])
    func formerKeyDecryptsForOneMoreLifetime(_ age: Int, isResumed: Bool) throws {
        for version in Self.versions {
            let (client, keys) = (try Client(version: version), TLSTicketKeys())
            let context = try context()
            _ = try client.connect(to: context, keys, at: Self.now)
            #expect(
                try client.connect(to: context, keys, at: Self.now + age).isResumed == isResumed)
        }
    }

    @Test(arguments: versions) func otherListenerRefusesTicket(_ version: CInt) throws {
        let (client, keys) = (try Client(version: version), TLSTicketKeys())
        _ = try client.connect(to: context(), keys, at: Self.now)
        let other = try context { $0.listener = "127.0.0.1:8443" }
        #expect(try !client.connect(to: other, keys, at: Self.now).isResumed)
    }

    @Test(arguments: versions) func withoutTicketsNothingIsResumed(_ version: CInt) throws {
        let (client, keys) = (try Client(version: version), TLSTicketKeys())
        let context = try context { $0.ticketLifetime = nil }
        for _ in 0..<2 {
            #expect(try !client.connect(to: context, keys, at: Self.now).isResumed)
        }
    }

    @Test(arguments: versions) func resumedSessionKeepsIdentity(_ version: CInt) throws {
        let (client, keys) = (try Client(version: version, as: "caller"), TLSTicketKeys())
        let authorities = try Certificates.file("authority.pem")
        let context = try context { $0.clients = .init(authorities: authorities, isRequired: true) }
        let first = try client.connect(to: context, keys, at: Self.now)
        let second = try client.connect(to: context, keys, at: Self.now)
        #expect(!first.isResumed && second.isResumed)
        #expect(first.identity?.name == "spiffe://shop.test/cart")
        #expect(second.identity == first.identity)

        // Another list of authorities has not verified this client.
        let changed = try self.context(authorities: authorities)
        #expect(try !client.connect(to: changed, keys, at: Self.now).isResumed)
    }

    private func context(authorities: Bytes) throws -> TLSServerContext {
        try context {
            $0.clients = .init(
                authorities: Bytes(authorities.array + Array("\n".utf8)), isRequired: true)
        }
    }

    @Test func keysRotateAfterTheirLifetime() throws {
        let keys = TLSTicketKeys()
        let key = try #require(keys.present(lifetime: 3600, at: 0))
        #expect(Set(key.bytes).count > 16, "random")
        #expect(keys.present(lifetime: 3600, at: 3599)?.bytes == key.bytes)
        #expect(keys.present(lifetime: 3600, at: 3600)?.bytes != key.bytes)
        #expect(keys.present(lifetime: 3600, at: 10)?.bytes != key.bytes, "a clock set back")
    }
}
