import SimReactor

/// What the connection to a host must be like, by the configuration of its backend.
extension DrawnBackend {
    /// Why a request must not go over a connection with this session; nil if it may.
    func objection(to session: SimSession?, _ host: Int) -> String? {
        guard let tls else { return session == nil ? nil : "TLS to a host without https://" }
        guard let session else { return "no TLS to a host with https://" }
        let name = tls.name(of: hosts[host])
        if session.serverName != name { return "asked for \(session.serverName), not \(name)" }
        if tls.verifies, !session.certificateNames.contains(name) {
            return "the certificate is not one of \(name)"
        }
        return session.applicationProtocol == "http/1.1" ? nil : "another protocol inside"
    }
}
