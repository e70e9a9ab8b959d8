package import Basics
import COpenSSL
package import Reactor

/// One side of a TLS connection without I/O: it takes received bytes, returns the decrypted ones,
/// and stores the bytes to send until the caller takes them. It uses neither sockets nor clocks.
///
/// OpenSSL reads from and writes to memory (two memory BIOs), so no call blocks, and the same
/// engine runs over real and simulated connections and in memory.
package final class TLSEngine {
    /// The state of the handshake.
    package enum Handshake: Equatable {
        case done
        case needsMore
        case failed(IOFailure)
    }

    /// The result of reading.
    package enum Read: Equatable {
        /// The number of bytes in the buffer; never zero.
        case bytes(Int)
        case needsMore
        /// The peer sends no more (close_notify).
        case ended
        case failed(IOFailure)
    }

    let ssl: OpaquePointer
    /// Owned by `ssl`: received bytes, and bytes to send.
    private let arrived: OpaquePointer
    private let outgoing: OpaquePointer
    private let context: TLSContext
    /// OpenSSL reported a fatal error; it must not be called again.
    private var failure: IOFailure?
    private var isShutDown = false
    private var records = RecordBudget()
    /// Received bytes of a handshake that has not ended.
    private var handshakeBytes = 0
    /// The time of the events to come, with which the budget for records refills.
    package var now = Instant(nanoseconds: 0)
    /// Nil for a client, and without tickets.
    private(set) var tickets: TicketAccess?
    /// When the connection of a server began, in seconds since 1970.
    private(set) var unixTime = 0

    /// The longest content of a record (RFC 8446 5.1), and so of one read.
    package static let recordBytesMax = 16 * 1024

    private init(_ context: TLSContext) throws(IOFailure) {
        TLSErrors.clear()
        guard let ssl = SSL_new(context.raw) else { throw .outOfMemory }
        guard let arrived = BIO_new(BIO_s_mem()) else {
            SSL_free(ssl)
            throw .outOfMemory
        }
        guard let outgoing = BIO_new(BIO_s_mem()) else {
            BIO_free(arrived)
            SSL_free(ssl)
            throw .outOfMemory
        }
        SSL_set_bio(ssl, arrived, outgoing)
        self.ssl = ssl
        self.arrived = arrived
        self.outgoing = outgoing
        self.context = context
        tributary_ssl_set_app_data(ssl, Unmanaged.passUnretained(self).toOpaque())
    }

    /// The client's side.
    ///
    /// - Parameters:
    ///   - host: the name that the certificate must contain, or an address in text form
    ///   - protocols: offered to the server
    ///   - unixTime: seconds since 1970, at which the certificate must be valid
    convenience init(
        client context: TLSContext, host: String, offering protocols: ApplicationProtocols,
        unixTime: Int
    ) throws(IOFailure) {
        try self.init(context)
        SSL_set_connect_state(ssl)
        // RFC 7301 3.1: each protocol preceded by its length.
        let offered = protocols.names.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
        guard SSL_set_alpn_protos(ssl, offered, UInt32(offered.count)) == 0 else {
            throw .outOfMemory
        }
        let parameters = SSL_get0_param(ssl)
        X509_VERIFY_PARAM_set_time(parameters, time_t(unixTime))
        // Only the subjectAltName counts, since the common name is not a host name (RFC 9110
        // 4.3.4). `*` matches a whole label, as in browsers (RFC 9525 6.3).
        X509_VERIFY_PARAM_set_hostflags(
            parameters,
            UInt32(X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS))
        // An address is verified as an address, and never sent as a server name (RFC 6066 3).
        let isSet =
            IPAddress(host) != nil
            ? X509_VERIFY_PARAM_set1_ip_asc(parameters, host) == 1
            : SSL_set1_host(ssl, host) == 1 && tributary_ssl_set_name(ssl, host) == 1
        guard isSet else {
            throw .tlsFailed("'\(host)' cannot be used as a server name: \(TLSErrors.message())")
        }
    }

    /// The server's side.
    convenience init(
        server context: TLSContext, unixTime: Int, tickets: TicketAccess?
    ) throws(IOFailure) {
        try self.init(context)
        SSL_set_accept_state(ssl)
        X509_VERIFY_PARAM_set_time(SSL_get0_param(ssl), time_t(unixTime))
        self.tickets = tickets
        self.unixTime = unixTime
    }

    /// The engine of a connection, in a callback of OpenSSL.
    static func of(_ ssl: OpaquePointer?) -> TLSEngine? {
        tributary_ssl_app_data(ssl).map {
            Unmanaged<TLSEngine>.fromOpaque($0).takeUnretainedValue()
        }
    }

    deinit { SSL_free(ssl) }

    // MARK: Input

    /// Stores received bytes, which the calls below process.
    package func receive(_ bytes: Span<UInt8>) {
        guard failure == nil, !bytes.isEmpty else { return }
        TLSErrors.clear()
        let taken = bytes.withUnsafeBufferPointer { buffer in
            BIO_write(arrived, buffer.baseAddress, CInt(clamping: buffer.count))
        }
        if Int(taken) != bytes.count { failure = .outOfMemory }
        handshakeBytes = isInHandshake ? handshakeBytes + bytes.count : 0
    }

    /// A record has begun to arrive, in a callback of OpenSSL: it costs a point of the budget, until it turns
    /// out to have data. Without further input, OpenSSL returns to the caller.
    func recordBegan() {
        guard failure == nil, !records.charge(at: now) else { return }
        failure = .recordFlood
        tributary_bio_discard(arrived)
    }

    /// Whether received bytes were not read yet.
    package var hasInput: Bool { readBytesMax > 0 }

    /// The most bytes that a read can return now; zero without input.
    package var readBytesMax: Int {
        // OpenSSL has read a part of a record, whose length is not known here.
        SSL_has_pending(ssl) == 1
            ? Self.recordBytesMax : min(BIO_ctrl_pending(arrived), Self.recordBytesMax)
    }

    /// Continues the handshake with the received bytes.
    package func continueHandshake() -> Handshake {
        if let failure { return .failed(failure) }
        TLSErrors.clear()
        let result = SSL_do_handshake(ssl)
        if result == 1 { return .done }
        guard let failure = reasonToStop(result) else { return .needsMore }
        return .failed(failure)
    }

    /// Reads decrypted bytes, at most one record.
    package func read(into buffer: UnsafeMutableBufferPointer<UInt8>) -> Read {
        if let failure { return .failed(failure) }
        TLSErrors.clear()
        var count = 0
        let result = SSL_read_ex(ssl, buffer.baseAddress, buffer.count, &count)
        if result == 1, count > 0 {
            // A read returns the data of one record.
            records.refund()
            return .bytes(min(count, buffer.count))
        }
        if SSL_get_error(ssl, result) == SSL_ERROR_ZERO_RETURN { return .ended }
        guard let failure = reasonToStop(result) else { return .needsMore }
        return .failed(failure)
    }

    // MARK: Session

    /// The protocol that the handshake has selected (ALPN); nil without one.
    package var applicationProtocol: String? {
        var length: UInt32 = 0
        var start: UnsafePointer<UInt8>?
        SSL_get0_alpn_selected(ssl, &start, &length)
        return start.map { start in
            String(
                decoding: UnsafeBufferPointer(start: start, count: Int(length)), as: UTF8.self)
        }
    }

    /// What the handshake agreed on, at the server.
    package var session: SecureSession {
        SecureSession(
            version: SSL_version(ssl) == TLS1_3_VERSION ? .tls13 : .tls12,
            isResumed: SSL_session_reused(ssl) == 1,
            serverName: SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name)
                .map { String(cString: $0) },
            applicationProtocol: applicationProtocol, identity: PeerIdentity(of: ssl))
    }

    // MARK: Output

    /// Encrypts bytes and stores the result. False if the connection has failed.
    package func write(_ bytes: Span<UInt8>) -> Bool {
        guard failure == nil, !isShutDown, !bytes.isEmpty else { return failure == nil }
        TLSErrors.clear()
        var count = 0
        let result = bytes.withUnsafeBufferPointer { buffer in
            SSL_write_ex(ssl, buffer.baseAddress, buffer.count, &count)
        }
        if result == 1, count == bytes.count { return true }
        // Writing to memory never blocks, so any other result is a failure.
        failure = reasonToStop(result) ?? .tlsFailed("cannot write")
        return false
    }

    /// Ends this side's data (close_notify). Reading continues.
    package func shutDown() {
        guard failure == nil, !isShutDown, SSL_is_init_finished(ssl) == 1 else { return }
        isShutDown = true
        TLSErrors.clear()
        SSL_shutdown(ssl)
        TLSErrors.clear()
    }

    /// The number of bytes to send.
    package var outgoingCount: Int { BIO_ctrl_pending(outgoing) }

    /// Passes the bytes to send to `body`, if there are any.
    package func takeOutgoing(_ body: (Span<UInt8>) -> Void) {
        let waiting = outgoingCount
        guard waiting > 0 else { return }
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: waiting) { buffer in
            let count = Int(BIO_read(outgoing, buffer.baseAddress, CInt(clamping: waiting)))
            guard count > 0 else { return }
            body(UnsafeBufferPointer(rebasing: buffer[..<min(count, waiting)]).span)
        }
    }

    // MARK: Memory

    /// The bytes that OpenSSL holds for the connection, within a tenth or so.
    package var heldBytes: Int {
        Self.sessionBytes + tributary_bio_capacity(arrived) + tributary_bio_capacity(outgoing)
            + (tributary_ssl_holds_record(ssl) == 1 ? Self.recordBufferBytes : 0)
            + (isInHandshake ? Self.handshakeBufferBytes + handshakeBytes : 0)
    }

    /// Whether it holds more than an idle connection: a part of a record or of a handshake.
    package var holdsPart: Bool { isInHandshake || tributary_ssl_holds_record(ssl) == 1 }

    /// Whether a handshake, or a message of it after its end (RFC 8446 4.6), is incomplete.
    private var isInHandshake: Bool { SSL_in_init(ssl) == 1 }

    /// Frees the memory of large buffers that are empty; OpenSSL keeps it for the life of the connection.
    package func releaseBuffers() {
        releaseBuffer(of: arrived)
        releaseBuffer(of: outgoing)
    }

    private func releaseBuffer(of bio: OpaquePointer) {
        guard tributary_bio_capacity(bio) > Self.keptBytesMax, BIO_ctrl_pending(bio) == 0,
            tributary_bio_shrink(bio) == 0
        else { return }
        failure = failure ?? .outOfMemory
    }

    /// The state of a connection, measured with OpenSSL 3.0: 16 to 18 KiB, with a certificate of the peer some
    /// KiB more.
    private static let sessionBytes = 18 * 1024
    /// Held while a record is incomplete: the longest record and its overhead.
    private static let recordBufferBytes = recordBytesMax + 512
    /// Held during a handshake: its messages, and the buffer of records to send.
    private static let handshakeBufferBytes = 38 * 1024
    /// Kept for the next records, so that small messages allocate nothing.
    private static let keptBytesMax = 8 * 1024

    // MARK: Failures

    /// Why the last call failed; nil if it only needs more bytes. The failure is stored, because
    /// OpenSSL forbids further calls after it.
    private func reasonToStop(_ result: CInt) -> IOFailure? {
        if let failure { return failure }
        switch SSL_get_error(ssl, result) {
        case SSL_ERROR_WANT_READ: return nil
        case SSL_ERROR_ZERO_RETURN: failure = .tlsFailed("ended in the middle of the handshake")
        default: failure = TLSErrors.failure(of: ssl)
        }
        return failure
    }
}
