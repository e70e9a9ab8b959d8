import Basics
import COpenSSL

/// Owns OpenSSL's context, which all connections with the same settings share.
///
/// Unchecked: it is only changed while it is set up; afterwards OpenSSL allows several threads to
/// create connections from it, and counts its references atomically.
final class TLSContext: @unchecked Sendable {
    let raw: OpaquePointer
    /// Arguments of callbacks.
    private var held: [AnyObject] = []

    init(_ method: OpaquePointer?) throws(TLSSettingsError) {
        TLSErrors.clear()
        guard let raw = SSL_CTX_new(method) else { throw .context(TLSErrors.message()) }
        self.raw = raw
        guard tributary_ssl_ctx_harden(raw) == 1 else { throw .context(TLSErrors.message()) }
        // Every received record begins with a header, also where OpenSSL reads several in one call.
        SSL_CTX_set_msg_callback(raw) { isSent, _, type, _, _, ssl, _ in
            if isSent == 0, type == SSL3_RT_HEADER { TLSEngine.of(ssl)?.recordBegan() }
        }
    }

    deinit { SSL_CTX_free(raw) }

    /// Keeps the argument of a callback alive as long as the context.
    func holds(_ object: AnyObject) { held.append(object) }

    /// The peer must send a certificate that one of these signed, or one of these itself.
    func trust(_ pem: Bytes) throws(TLSSettingsError) {
        let certificates = try PEM(pem).certificates { message in .trusted(message) }
        let store = SSL_CTX_get_cert_store(raw)
        for certificate in certificates {
            guard certificate.pass({ X509_STORE_add_cert(store, $0) }) else {
                throw .trusted(TLSErrors.message())
            }
        }
        // A configured certificate is trusted even if it is not a root.
        X509_STORE_set_flags(store, UInt(X509_V_FLAG_PARTIAL_CHAIN))
        SSL_CTX_set_verify(raw, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
    }

    /// Sets the certificate that is sent to the peer.
    func use(_ identity: TLSIdentity) throws(TLSSettingsError) {
        let chain = try PEM(identity.certificate).certificates { message in .certificate(message) }
        for (index, certificate) in chain.enumerated() {
            let isAccepted = certificate.pass { certificate in
                index == 0
                    ? SSL_CTX_use_certificate(raw, certificate)
                    : tributary_ssl_ctx_add1_chain_cert(raw, certificate)
            }
            guard isAccepted else { throw .certificate(TLSErrors.message()) }
        }
        let key = try PEM(identity.key).key()
        defer { EVP_PKEY_free(key) }
        guard SSL_CTX_use_PrivateKey(raw, key) == 1 else { throw .key(Self.keyMessage) }
        guard SSL_CTX_check_private_key(raw) == 1 else { throw .key(Self.keyMessage) }
    }

    private static var keyMessage: String {
        let message = TLSErrors.message()
        return message.contains("mismatch") ? "does not belong to the certificate" : message
    }
}
