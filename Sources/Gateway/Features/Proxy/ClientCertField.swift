import Basics
import HTTP

/// `Client-Cert`: the certificate that the client has proved in the TLS handshake, as a byte sequence
/// of a structured field (RFC 9440 2.2, RFC 9651 3.3.5).
///
/// The last value is kept: the requests of a connection have the same one. Confined to its worker.
final class ClientCertField {
    private var last: (certificate: Bytes, value: FieldValue)?

    func append(_ identity: PeerIdentity, to fields: inout Fields) {
        if let last, last.certificate == identity.certificate {
            return fields.append(.clientCert, last.value)
        }
        guard let value = Self.value(of: identity.certificate) else { return }
        last = (identity.certificate, value)
        fields.append(.clientCert, value)
    }

    /// `:MIIB...:`
    private static func value(of certificate: Bytes) -> FieldValue? {
        var text: [UInt8] = []
        text.reserveCapacity(certificate.count / 3 * 4 + 6)
        text.append(UInt8(ascii: ":"))
        text.append(base64: certificate.span)
        text.append(UInt8(ascii: ":"))
        return FieldValue(Bytes(text))
    }
}
