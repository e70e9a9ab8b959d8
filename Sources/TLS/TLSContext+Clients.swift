import Basics
import COpenSSL

/// The verification of the certificates of clients.
extension TLSContext {
    /// Requests a certificate that one of these signed, or one of these itself.
    func trustClients(_ pem: Bytes, areRequired: Bool) throws(TLSSettingsError) {
        try trust(pem)
        SSL_CTX_set_verify(
            raw, SSL_VERIFY_PEER | (areRequired ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0), nil)
        // The names of acceptable authorities, by which a client selects its certificate.
        for certificate in try PEM(pem).certificates({ message in .trusted(message) })
        where !certificate.pass({ SSL_CTX_add_client_CA(raw, $0) }) {
            throw .trusted(TLSErrors.message())
        }
    }

    /// A ticket contains the client's certificate, which is not verified again: if it has expired
    /// meanwhile, the client makes a full handshake.
    func ignoreTicketsOfExpiredClients() {
        SSL_CTX_set_session_ticket_cb(
            raw, nil,
            { ssl, session, _, _, status, _ in
                switch status {
                case SSL_TICKET_SUCCESS, SSL_TICKET_SUCCESS_RENEW:
                    guard let engine = TLSEngine.of(ssl), let session,
                        let certificate = SSL_SESSION_get0_peer(session)
                    else { break }
                    var time = time_t(engine.unixTime)
                    if X509_cmp_time(X509_get0_notAfter(certificate), &time) <= 0 {
                        return SSL_TICKET_RETURN_IGNORE_RENEW
                    }
                default: return SSL_TICKET_RETURN_IGNORE_RENEW
                }
                return status == SSL_TICKET_SUCCESS
                    ? SSL_TICKET_RETURN_USE : SSL_TICKET_RETURN_USE_RENEW
            }, nil)
    }
}
