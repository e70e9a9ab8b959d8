import Basics
import COpenSSL

/// The text of a PEM file (RFC 7468), read from the beginning once.
struct PEM: ~Copyable {
    private let bytes: Bytes

    init(_ bytes: Bytes) {
        self.bytes = bytes
    }

    /// A certificate, freed with its last reference.
    final class Certificate {
        private let raw: OpaquePointer

        init(_ raw: OpaquePointer) {
            self.raw = raw
        }

        deinit { X509_free(raw) }

        /// Passes the certificate to a call of OpenSSL, which adds a reference of its own if it
        /// stores it.
        func pass(_ call: (OpaquePointer) -> CInt) -> Bool { use(call) == 1 }

        /// Reads the certificate.
        func use<Result>(_ body: (OpaquePointer) -> Result) -> Result {
            withExtendedLifetime(self) { body(raw) }
        }
    }

    /// All certificates, in order; at least one.
    func certificates(
        _ error: (String) -> TLSSettingsError
    ) throws(TLSSettingsError) -> [Certificate] {
        let (certificates, message) = read { bio in
            var certificates: [Certificate] = []
            while let raw = tributary_pem_read_certificate(bio) {
                certificates.append(Certificate(raw))
            }
            // After the last one OpenSSL reports an error, which only means the end of the file.
            return (certificates, TLSErrors.isEndOfPEM ? nil : TLSErrors.message())
        }
        if let message { throw error("holds a certificate that cannot be read: \(message)") }
        guard !certificates.isEmpty else { throw error("holds no certificate (PEM)") }
        return certificates
    }

    /// The private key; the caller frees it.
    func key() throws(TLSSettingsError) -> OpaquePointer {
        let (key, message) = read { bio in (tributary_pem_read_key(bio), TLSErrors.message()) }
        if let key { return key }
        // For an encrypted or missing key OpenSSL only reports that something is unsupported.
        let text = String(bytes)
        guard text.contains("PRIVATE KEY-----") else { throw .key("holds no private key (PEM)") }
        let isEncrypted = text.contains("ENCRYPTED")
        throw .key(isEncrypted ? "is encrypted; there is no prompt for its passphrase" : message)
    }

    private func read<Result>(_ body: (OpaquePointer?) -> Result) -> Result {
        bytes.span.withUnsafeBufferPointer { buffer in
            let bio = BIO_new_mem_buf(buffer.baseAddress, CInt(clamping: buffer.count))
            defer {
                BIO_free(bio)
                TLSErrors.clear()
            }
            TLSErrors.clear()
            return body(bio)
        }
    }
}
