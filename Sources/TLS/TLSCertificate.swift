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
        AlternativeNames(of: certificate).all.filter { $0.kind == .dns }.map { name in
            let name = name.text.lowercased()
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

/// The URIs and DNS names of a certificate, in their order (RFC 5280 4.2.1.6).
///
/// A name without the syntax of its kind does not count: a DNS name with the text of a URI would be read as
/// one where only the text is shown, and another reader would end a name at a zero byte.
struct AlternativeNames {
    let all: [PeerIdentity.AlternativeName]

    init(of certificate: OpaquePointer) {
        guard let names = tributary_names_open(certificate) else {
            TLSErrors.clear()
            all = []
            return
        }
        defer { tributary_names_free(names) }
        all = (0..<max(0, tributary_names_count(names))).compactMap { index in
            if let uri = Self.text(of: names, index, GEN_URI, where: Self.isURI) {
                return PeerIdentity.AlternativeName(.uri, uri)
            }
            return Self.text(of: names, index, GEN_DNS, where: Self.isHostName).map {
                PeerIdentity.AlternativeName(.dns, $0)
            }
        }
    }

    private static func text(
        of names: OpaquePointer, _ index: CInt, _ type: CInt,
        where isValid: (UnsafeBufferPointer<UInt8>) -> Bool
    ) -> String? {
        var length: CInt = 0
        guard let start = tributary_name_text(names, index, type, &length) else { return nil }
        let bytes = UnsafeBufferPointer(start: start, count: Int(max(0, length)))
        return isValid(bytes) ? String(decoding: bytes, as: UTF8.self) : nil
    }

    /// A scheme, and visible ASCII characters only (RFC 3986 3).
    private static func isURI(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let scheme = bytes.firstIndex(of: UInt8(ascii: ":")), scheme > 0 else { return false }
        return bytes[..<scheme].allSatisfy(isSchemeCharacter)
            && bytes.allSatisfy { (0x21...0x7E).contains($0) }
    }

    private static func isSchemeCharacter(_ byte: UInt8) -> Bool {
        isLetterOrDigit(byte) || "+-.".utf8.contains(byte)
    }

    /// Letters, digits, `-`, `_` and dots; `*` is any label.
    private static func isHostName(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        !bytes.isEmpty && bytes.allSatisfy { isLetterOrDigit($0) || "-_.*".utf8.contains($0) }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
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
