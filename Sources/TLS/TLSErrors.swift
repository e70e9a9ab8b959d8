import COpenSSL
import Reactor

/// OpenSSL's error queue, one per thread. A caller of OpenSSL clears it before the call and reads
/// it afterwards.
enum TLSErrors {
    /// Clears the queue. OpenSSL itself would clear each of its entries, even if there is no error.
    static func clear() {
        if ERR_peek_error() != 0 { ERR_clear_error() }
    }

    /// The text of the first error, which is the cause of the others. Clears the queue.
    static func message() -> String {
        let error = ERR_peek_error()
        ERR_clear_error()
        return message(of: error)
    }

    /// Whether reading PEM ended at the end of the text.
    static var isEndOfPEM: Bool {
        let error = ERR_peek_last_error()
        return tributary_err_lib(error) == ERR_LIB_PEM
            && tributary_err_reason(error) == PEM_R_NO_START_LINE
    }

    /// The failure of a connection. Clears the queue.
    static func failure(of ssl: OpaquePointer) -> IOFailure {
        let error = ERR_peek_error()
        ERR_clear_error()
        guard tributary_err_lib(error) == ERR_LIB_SSL else { return .tlsFailed(message(of: error)) }
        switch tributary_err_reason(error) {
        case SSL_R_CERTIFICATE_VERIFY_FAILED:
            let reason = X509_verify_cert_error_string(SSL_get_verify_result(ssl))
            return .certificateRefused(reason.map { String(cString: $0) } ?? message(of: error))
        // Typical results of receiving another protocol.
        case SSL_R_WRONG_VERSION_NUMBER, SSL_R_HTTP_REQUEST,
            SSL_R_PACKET_LENGTH_TOO_LONG
        where SSL_is_server(ssl) == 0:
            return .tlsFailed("\(message(of: error)) (does the server use TLS?)")
        // The only callback of a server that reports its failure in this way selects by the name.
        case SSL_R_CALLBACK_FAILED where SSL_is_server(ssl) == 1:
            return .tlsFailed("unknown server name")
        default:
            return .tlsFailed(message(of: error))
        }
    }

    private static func message(of error: UInt) -> String {
        if error == 0 { return "OpenSSL gives no reason" }
        guard let reason = ERR_reason_error_string(error) else { return "OpenSSL error \(error)" }
        return String(cString: reason)
    }
}
