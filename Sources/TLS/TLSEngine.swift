import COpenSSL
package import Reactor

/// One side of a TLS connection without the connection: what arrives goes in, what was meant comes
/// out, and what is to be sent waits to be taken. Knows no socket and no clock.
///
/// OpenSSL reads from and writes to memory here (two memory BIOs), so nothing in it ever blocks,
/// and the same engine runs over a real connection, over a simulated one and over none.
package final class TLSEngine {
    /// How far the two sides came in agreeing.
    package enum Handshake: Equatable {
        case done
        case needsMore
        case failed(IOFailure)
    }

    /// What reading gave.
    package enum Read: Equatable {
        /// So many bytes are in the buffer; never zero.
        case bytes(Int)
        case needsMore
        /// The peer sends no more (close_notify).
        case ended
        case failed(IOFailure)
    }

    private let ssl: OpaquePointer
    /// Held by `ssl`: what arrived, and what is to be sent.
    private let arrived: OpaquePointer
    private let outgoing: OpaquePointer
    private let context: TLSContext
    /// OpenSSL reported a fatal error; it must not be called again.
    private var failure: IOFailure?
    private var isShutDown = false

    /// The longest record's content (RFC 8446 5.1): no read gives more.
    package static let recordBytesMax = 16 * 1024

    private init(_ context: TLSContext) throws(IOFailure) {
        ERR_clear_error()
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
    }

    /// The client's side.
    ///
    /// - Parameters:
    ///   - host: whom the certificate must name: a name, or an address in text form
    ///   - unixTime: seconds since 1970, at which the certificate must be valid
    convenience init(client context: TLSContext, host: String, unixTime: Int) throws(IOFailure) {
        try self.init(context)
        SSL_set_connect_state(ssl)
        let parameters = SSL_get0_param(ssl)
        X509_VERIFY_PARAM_set_time(parameters, time_t(unixTime))
        // Only the subjectAltName counts: the common name is not a host name (RFC 9110 4.3.4). And
        // `*` matches a whole label, as in browsers (RFC 9525 6.3).
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
    convenience init(server context: TLSContext, unixTime: Int) throws(IOFailure) {
        try self.init(context)
        SSL_set_accept_state(ssl)
        X509_VERIFY_PARAM_set_time(SSL_get0_param(ssl), time_t(unixTime))
    }

    deinit { SSL_free(ssl) }

    // MARK: What arrives

    /// Takes what arrived, to be understood by the calls below.
    package func receive(_ bytes: Span<UInt8>) {
        guard failure == nil, !bytes.isEmpty else { return }
        ERR_clear_error()
        let taken = bytes.withUnsafeBufferPointer { buffer in
            BIO_write(arrived, buffer.baseAddress, CInt(clamping: buffer.count))
        }
        if Int(taken) != bytes.count { failure = .outOfMemory }
    }

    /// Whether something arrived that was not read yet.
    package var hasInput: Bool { BIO_ctrl_pending(arrived) > 0 || SSL_has_pending(ssl) == 1 }

    /// Goes on agreeing, with what arrived.
    package func continueHandshake() -> Handshake {
        if let failure { return .failed(failure) }
        ERR_clear_error()
        let result = SSL_do_handshake(ssl)
        if result == 1 { return .done }
        guard let failure = reasonToStop(result) else { return .needsMore }
        return .failed(failure)
    }

    /// Reads what the other side meant, one record at most.
    package func read(into buffer: UnsafeMutableBufferPointer<UInt8>) -> Read {
        if let failure { return .failed(failure) }
        ERR_clear_error()
        var count = 0
        let result = SSL_read_ex(ssl, buffer.baseAddress, buffer.count, &count)
        if result == 1, count > 0 { return .bytes(min(count, buffer.count)) }
        if SSL_get_error(ssl, result) == SSL_ERROR_ZERO_RETURN { return .ended }
        guard let failure = reasonToStop(result) else { return .needsMore }
        return .failed(failure)
    }

    // MARK: What is sent

    /// Encrypts; the result waits to be taken. False if the connection cannot go on.
    package func write(_ bytes: Span<UInt8>) -> Bool {
        guard failure == nil, !isShutDown, !bytes.isEmpty else { return failure == nil }
        ERR_clear_error()
        var count = 0
        let result = bytes.withUnsafeBufferPointer { buffer in
            SSL_write_ex(ssl, buffer.baseAddress, buffer.count, &count)
        }
        if result == 1, count == bytes.count { return true }
        // Memory takes everything, so even to have to wait would be wrong.
        failure = reasonToStop(result) ?? .tlsFailed("cannot write")
        return false
    }

    /// Says that no more will be sent (close_notify). Reading goes on.
    package func shutDown() {
        guard failure == nil, !isShutDown, SSL_is_init_finished(ssl) == 1 else { return }
        isShutDown = true
        ERR_clear_error()
        SSL_shutdown(ssl)
        ERR_clear_error()
    }

    /// How much waits to be sent.
    package var outgoingCount: Int { BIO_ctrl_pending(outgoing) }

    /// Hands over what is to be sent, if there is anything.
    package func takeOutgoing(_ body: (Span<UInt8>) -> Void) {
        let waiting = outgoingCount
        guard waiting > 0 else { return }
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: waiting) { buffer in
            let count = Int(BIO_read(outgoing, buffer.baseAddress, CInt(clamping: waiting)))
            guard count > 0 else { return }
            body(UnsafeBufferPointer(rebasing: buffer[..<min(count, waiting)]).span)
        }
    }

    // MARK: Failures

    /// Why the last call cannot be made again; nil if only bytes are missing. Kept, because OpenSSL
    /// forbids to go on with a connection that failed.
    private func reasonToStop(_ result: CInt) -> IOFailure? {
        switch SSL_get_error(ssl, result) {
        case SSL_ERROR_WANT_READ: return nil
        case SSL_ERROR_ZERO_RETURN: failure = .tlsFailed("ended in the middle of the handshake")
        default: failure = TLSErrors.failure(of: ssl)
        }
        return failure
    }
}
