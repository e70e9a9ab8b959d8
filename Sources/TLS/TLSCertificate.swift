import Basics
import COpenSSL

/// A certificate with its chain and its private key, and what the gateway needs to know about it.
///
/// Unchecked: nothing changes after `init`, and OpenSSL counts references atomically.
package final class TLSCertificate: @unchecked Sendable {
    /// The DNS names of the certificate, in lower case and without a dot at the end.
    package let names: [String]
    /// The end of the validity, in seconds since 1970.
    package let notAfter: Int64
    package let keyType: KeyType
    /// Whether each certificate of the file signed the one before it.
    package let isChainInOrder: Bool
    /// Whether clients require a stapled OCSP response, which the gateway never sends.
    package let mustStaple: Bool

    let certificate: OpaquePointer
    let key: OpaquePointer
    let chain: OpaquePointer

    package enum KeyType: Sendable, Equatable {
        case rsa(bits: Int)
        case other
    }

    /// The message of a key that belongs to another certificate.
    package static let mismatch = "does not match the certificate"

    /// - Parameter index: of the certificate in its listener, for errors
    init(_ identity: TLSIdentity, index: Int) throws(TLSServerSettingsError) {
        let certificates: [PEM.Certificate]
        do throws(TLSSettingsError) {
            certificates = try PEM(identity.certificate).certificates { .certificate($0) }
        } catch {
            throw .certificate(index, error.message)
        }
        do throws(TLSSettingsError) {
            key = try PEM(identity.key).key()
        } catch {
            throw .key(index, error.message)
        }
        let key = key
        guard let leaf = certificates.first, let chain = Self.chain(certificates.dropFirst()) else {
            EVP_PKEY_free(key)
            throw .context("out of memory")
        }
        let details = leaf.use { leaf in
            (
                names: Self.names(of: leaf), notAfter: Self.notAfter(leaf),
                mustStaple: tributary_must_staple(leaf) == 1,
                matches: X509_check_private_key(leaf, key) == 1, raw: leaf
            )
        }
        TLSErrors.clear()
        guard details.matches else {
            EVP_PKEY_free(key)
            tributary_chain_free(chain)
            throw .key(index, Self.mismatch)
        }
        certificate = details.raw
        X509_up_ref(certificate)
        self.chain = chain
        names = details.names
        notAfter = details.notAfter
        mustStaple = details.mustStaple
        keyType =
            EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA
            ? .rsa(bits: Int(EVP_PKEY_get_bits(key))) : .other
        isChainInOrder = Self.isInOrder(certificates)
        TLSErrors.clear()
    }

    deinit {
        X509_free(certificate)
        EVP_PKEY_free(key)
        tributary_chain_free(chain)
    }

    private static func chain(_ certificates: ArraySlice<PEM.Certificate>) -> OpaquePointer? {
        guard let chain = tributary_chain_new() else { return nil }
        for certificate in certificates
        where !certificate.pass({ tributary_chain_append(chain, $0) }) {
            tributary_chain_free(chain)
            return nil
        }
        return chain
    }

    private static func isInOrder(_ certificates: [PEM.Certificate]) -> Bool {
        zip(certificates, certificates.dropFirst()).allSatisfy { subject, issuer in
            subject.use { subject in
                issuer.use { X509_check_issued($0, subject) } == X509_V_OK
            }
        }
    }

    private static func names(of certificate: OpaquePointer) -> [String] {
        AlternativeNames(of: certificate, including: [GEN_DNS]).texts.map { name in
            let name = name.lowercased()
            return name.hasSuffix(".") ? String(name.dropLast()) : name
        }
    }

    private static func notAfter(_ certificate: OpaquePointer) -> Int64 {
        var (year, month, day, seconds): (CInt, CInt, CInt, CInt) = (0, 0, 0, 0)
        guard tributary_not_after(certificate, &year, &month, &day, &seconds) == 1,
            let days = CivilDate.daysSince1970(
                year: Int64(year), month: Int64(month), day: Int64(day))
        else { return 0 }
        return days * 86_400 + Int64(seconds)
    }
}

/// The alternative names of a certificate, in their order (RFC 5280 4.2.1.6).
struct AlternativeNames {
    /// Without names that contain a zero byte: other readers would end them there.
    let texts: [String]

    /// - Parameter types: those to read: `GEN_DNS`, `GEN_URI`
    init(of certificate: OpaquePointer, including types: [CInt]) {
        guard let names = tributary_names_open(certificate) else {
            TLSErrors.clear()
            texts = []
            return
        }
        defer { tributary_names_free(names) }
        texts = (0..<max(0, tributary_names_count(names))).compactMap { index in
            for type in types {
                var length: CInt = 0
                guard let start = tributary_name_text(names, index, type, &length) else { continue }
                let bytes = UnsafeBufferPointer(start: start, count: Int(max(0, length)))
                return bytes.contains(0) ? nil : String(decoding: bytes, as: UTF8.self)
            }
            return nil
        }
    }
}

extension TLSSettingsError {
    /// The reason, which continues after the name of a setting.
    fileprivate var message: String {
        switch self {
        case .trusted(let message), .certificate(let message), .key(let message),
            .context(let message):
            message
        }
    }
}
