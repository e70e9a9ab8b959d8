package import Basics
import COpenSSL
package import Promises
package import Reactor

/// Secures the connections of clients at one listener. Created once per configuration and used for
/// any number of connections, on any thread.
package final class TLSServerContext: Sendable {
    package let settings: TLSServerSettings
    private let context: TLSContext
    private let certificates: ServerCertificates

    package init(_ settings: TLSServerSettings) throws(TLSServerSettingsError) {
        self.settings = settings
        var certificates: [TLSCertificate] = []
        for (index, identity) in settings.certificates.enumerated() {
            certificates.append(try TLSCertificate(identity, index: index))
        }
        self.certificates = ServerCertificates(
            certificates, refusesUnknownNames: settings.refusesUnknownNames)
        do throws(TLSSettingsError) {
            context = try TLSContext(TLS_server_method())
        } catch {
            throw .context("\(error)")
        }
        try setAlgorithms()
        // After the algorithms: the security level rejects weak keys.
        guard self.certificates.install(in: context) else {
            throw .context(TLSErrors.message())
        }
        try setClients()
        try setTickets()
        setProtocols()
    }

    /// What is known about the certificates, in the order of the settings.
    package var certificateFacts: [TLSCertificate] { certificates.all }

    // MARK: Settings

    /// The lists of Mozilla's server side TLS guidelines, version 5.7, without the suites with DHE.
    private static let suites =
        "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"
    private static let ciphers =
        "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384"
        + ":ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305"
    private static let groups = "X25519:P-256:P-384"

    private func setAlgorithms() throws(TLSServerSettingsError) {
        let isModern = settings.policy == .modern || settings.minVersion == .tls13
        guard
            tributary_ssl_ctx_set_algorithms(
                context.raw, Self.ciphers, Self.suites, Self.groups) == 1,
            tributary_ssl_ctx_set_min_version(
                context.raw, isModern ? TLS1_3_VERSION : TLS1_2_VERSION) == 1
        else { throw .context(TLSErrors.message()) }
    }

    private func setClients() throws(TLSServerSettingsError) {
        guard let clients = settings.clients else { return }
        do throws(TLSSettingsError) {
            try context.trustClients(clients.authorities, areRequired: clients.isRequired)
        } catch {
            switch error {
            case .trusted(let message): throw .clients(message)
            case .certificate(let message), .key(let message), .context(let message):
                throw .context(message)
            }
        }
    }

    private func setTickets() throws(TLSServerSettingsError) {
        let lifetime = settings.ticketLifetime.map { Int($0.components.seconds) }
        let callback: tributary_ticket_key_callback? =
            lifetime == nil
            ? nil
            : { ssl, name, iv, cipher, mac, encrypts in
                guard let name, let iv, let access = TLSEngine.of(ssl)?.tickets else { return 0 }
                return access.begin(
                    name: name, iv: iv, cipher: cipher, mac: mac, encrypts: encrypts == 1)
            }
        guard tributary_ssl_ctx_set_tickets(context.raw, lifetime ?? 0, callback) == 1 else {
            throw .context(TLSErrors.message())
        }
        // A session belongs to its listener and to the authorities that verified its client.
        let identity =
            Array("\(settings.listener)\n\(settings.clients?.isRequired == true)\n".utf8)
            + (settings.clients?.authorities.array ?? [])
        guard let digest = SHA256.hash(identity),
            SSL_CTX_set_session_id_context(context.raw, digest, UInt32(digest.count)) == 1
        else { throw .context(TLSErrors.message()) }
        context.ignoreTicketsOfExpiredClients()
    }

    private func setProtocols() {
        let protocols = ApplicationProtocols(settings.protocols)
        context.holds(protocols)
        SSL_CTX_set_alpn_select_cb(
            context.raw,
            { _, selected, length, offered, offeredLength, argument in
                guard let argument, let offered else { return SSL_TLSEXT_ERR_ALERT_FATAL }
                return Unmanaged<ApplicationProtocols>.fromOpaque(argument).takeUnretainedValue()
                    .select(
                        from: UnsafeBufferPointer(start: offered, count: Int(offeredLength)),
                        selected, length)
            }, Unmanaged.passUnretained(protocols).toOpaque())
    }

    // MARK: Connections

    /// The engine of a new connection.
    ///
    /// - Parameters:
    ///   - unixTime: seconds since 1970
    ///   - tickets: the ticket keys of the process; without them no session is resumed
    package func engine(unixTime: Int, tickets: TLSTicketKeys? = nil) throws(IOFailure) -> TLSEngine
    {
        let lifetime = settings.ticketLifetime?.components.seconds
        let access = tickets.flatMap { keys in
            lifetime.map { TicketAccess(keys: keys, lifetime: $0, time: Int64(unixTime)) }
        }
        return try TLSEngine(server: context, unixTime: unixTime, tickets: access)
    }

    /// The settings for the listener of a server.
    package func security(tickets: TLSTicketKeys) -> ServerSecurity {
        ServerSecurity { stream, received, progress, loop in
            self.accept(stream, after: received, on: loop, progress, tickets: tickets)
        }
    }

    /// Performs the handshake and promises the connection.
    ///
    /// - Parameter received: bytes that a former delegate has read from the stream; nil if nothing has
    ///   begun to read it
    package func accept(
        _ stream: any ByteStream, after received: Bytes? = nil, on loop: any Loop,
        _ progress: HandshakeProgress, tickets: TLSTicketKeys? = nil
    ) -> LocalPromise<AcceptedStream> {
        do {
            let engine = try engine(
                unixTime: Int(loop.unixTime / 1_000_000_000), tickets: tickets)
            return TLSStream.accept(
                over: stream, after: received, engine, progress, on: loop)
        } catch {
            stream.close()
            return loop.local.error(error)
        }
    }
}

/// The application protocols of a listener, for ALPN (RFC 7301).
private final class ApplicationProtocols: Sendable {
    private let names: [[UInt8]]

    init(_ names: [String]) {
        self.names = names.map { Array($0.utf8) }
    }

    /// Selects by the order of the server; without a common protocol, OpenSSL sends the alert
    /// `no_application_protocol`.
    ///
    /// - Parameter offered: each protocol preceded by its length; OpenSSL has checked the lengths
    func select(
        from offered: UnsafeBufferPointer<UInt8>,
        _ selected: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
        _ length: UnsafeMutablePointer<UInt8>?
    ) -> CInt {
        for name in names {
            var position = 0
            while position < offered.count {
                let end = position + 1 + Int(offered[position])
                guard end <= offered.count else { return SSL_TLSEXT_ERR_ALERT_FATAL }
                if offered[(position + 1)..<end].elementsEqual(name) {
                    selected?.pointee = offered.baseAddress.map { $0 + position + 1 }
                    length?.pointee = offered[position]
                    return SSL_TLSEXT_ERR_OK
                }
                position = end
            }
        }
        return SSL_TLSEXT_ERR_ALERT_FATAL
    }
}
