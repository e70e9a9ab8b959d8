import SimReactor

/// The model of TLS: what a connection to a host must be like.
extension DrawnBackend {
    /// Why a request must not be sent over a connection with this session; nil if it may.
    func objection(to session: SimSession?, _ host: Int) -> String? {
        guard let tls else { return session == nil ? nil : "TLS to a host without https://" }
        guard let session else { return "no TLS to a host with https://" }
        let name = tls.name(of: hosts[host])
        if session.serverName != name { return "SNI is \(session.serverName), not \(name)" }
        if tls.verifies, !session.certificateNames.contains(name) {
            return "the certificate is not valid for \(name)"
        }
        let expected = http2 == nil ? "http/1.1" : "h2"
        return session.applicationProtocol == expected ? nil : "ALPN is not \(expected)"
    }
}
