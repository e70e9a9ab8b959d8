import Basics
import COpenSSL

/// The identity in a client's certificate.
extension PeerIdentity {
    /// Nil without a certificate.
    init?(of ssl: OpaquePointer) {
        guard let certificate = SSL_get0_peer_certificate(ssl) else { return nil }
        self.init(
            alternativeNames: AlternativeNames(of: certificate).all,
            subject: Self.subject(of: certificate), certificate: Self.encoded(certificate))
        TLSErrors.clear()
    }

    private static func subject(of certificate: OpaquePointer) -> String {
        var length = 0
        guard let text = tributary_subject(certificate, &length) else { return "" }
        defer { tributary_openssl_free(text) }
        let bytes = UnsafeRawBufferPointer(start: text, count: length)
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func encoded(_ certificate: OpaquePointer) -> Bytes {
        var start: UnsafeMutablePointer<UInt8>?
        let length = Int(i2d_X509(certificate, &start))
        guard length > 0, let start else { return Bytes() }
        defer { tributary_openssl_free(start) }
        return Bytes(Array(UnsafeBufferPointer(start: start, count: length)))
    }
}
