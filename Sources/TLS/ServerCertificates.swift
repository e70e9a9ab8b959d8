import COpenSSL

/// The certificates of a listener, by server name. Immutable; OpenSSL calls it from the handshakes of
/// all workers.
final class ServerCertificates: Sendable {
    let all: [TLSCertificate]
    private let refusesUnknownNames: Bool
    /// The positions of the certificates with an exact name.
    private let exact: [String: [Int]]
    /// The same for names that begin with `*.`, without this beginning.
    private let wildcard: [String: [Int]]
    /// The certificates for names that none of them has.
    private let fallback: [Int]

    init(_ certificates: [TLSCertificate], refusesUnknownNames: Bool) {
        all = certificates
        self.refusesUnknownNames = refusesUnknownNames
        var (exact, wildcard): ([String: [Int]], [String: [Int]]) = ([:], [:])
        for (index, certificate) in certificates.enumerated() {
            for name in certificate.names {
                if name.hasPrefix("*.") {
                    wildcard[String(name.dropFirst(2)), default: []].append(index)
                } else {
                    exact[name, default: []].append(index)
                }
            }
        }
        (self.exact, self.wildcard) = (exact, wildcard)
        // With the others of the same names, which have another key type.
        let names = certificates.first?.names ?? []
        fallback = certificates.indices.filter { certificates[$0].names == names }
    }

    /// Whether every name leads to the same certificates, so that nothing has to be selected.
    var areUniform: Bool { fallback.count == all.count }

    /// The certificates for a name (RFC 9525 6.3): those with exactly this name, else those with a
    /// wildcard for its first label.
    private func certificates(for name: String) -> [Int]? {
        let name = (name.hasSuffix(".") ? String(name.dropLast()) : name).lowercased()
        if let found = exact[name] { return found }
        guard let dot = name.firstIndex(of: "."), dot != name.startIndex else { return nil }
        return wildcard[String(name[name.index(after: dot)...])]
    }

    private func certificates(of ssl: OpaquePointer?) -> [Int]? {
        guard let name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name) else { return nil }
        return certificates(for: String(cString: name))
    }

    // MARK: Calls of OpenSSL

    /// Installs the selection in a context, which holds this object.
    func install(in context: TLSContext) -> Bool {
        context.holds(self)
        let argument = Unmanaged.passUnretained(self).toOpaque()
        if areUniform {
            for certificate in all where !certificate.use(in: context) { return false }
        } else {
            // The certificate is set on the connection; everything else is the same for all names.
            SSL_CTX_set_cert_cb(
                context.raw,
                { ssl, argument in ServerCertificates.of(argument)?.select(for: ssl) == true ? 1 : 0
                },
                argument)
        }
        guard refusesUnknownNames else { return true }
        return tributary_ssl_ctx_set_name_callback(
            context.raw,
            { ssl, alert, argument in
                if ServerCertificates.of(argument)?.certificates(of: ssl) != nil {
                    return SSL_TLSEXT_ERR_OK
                }
                alert?.pointee = SSL_AD_UNRECOGNIZED_NAME
                return SSL_TLSEXT_ERR_ALERT_FATAL
            }, argument) == 1
    }

    private static func of(_ argument: UnsafeMutableRawPointer?) -> ServerCertificates? {
        argument.map { Unmanaged<ServerCertificates>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Sets the certificates of a connection; OpenSSL uses the one whose key type the client
    /// supports.
    private func select(for ssl: OpaquePointer?) -> Bool {
        for index in certificates(of: ssl) ?? fallback where !all[index].use(in: ssl) {
            return false
        }
        return true
    }
}

extension TLSCertificate {
    /// The first certificate of each key type counts.
    fileprivate func use(in context: TLSContext) -> Bool {
        SSL_CTX_use_cert_and_key(context.raw, certificate, key, chain, 0) == 1 || isTypeTaken
    }

    fileprivate func use(in ssl: OpaquePointer?) -> Bool {
        SSL_use_cert_and_key(ssl, certificate, key, chain, 0) == 1 || isTypeTaken
    }

    /// Whether the last call failed because there is a certificate of the same key type.
    private var isTypeTaken: Bool {
        let error = ERR_peek_last_error()
        guard tributary_err_lib(error) == ERR_LIB_SSL,
            tributary_err_reason(error) == SSL_R_NOT_REPLACING_CERTIFICATE
        else { return false }
        TLSErrors.clear()
        return true
    }
}
