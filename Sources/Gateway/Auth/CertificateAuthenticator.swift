import Basics
import HTTP

/// Accepts the identity that a client has proved with its certificate in the TLS handshake.
///
/// The listener has verified the certificate; this only decides whether its names are accepted. The
/// last caller is kept: the requests of a connection have the same one.
final class CertificateAuthenticator {
    private let rule: CertificateRule
    private let authenticator: Bytes
    private var last: (identity: PeerIdentity, result: AuthResult)?

    init(_ rule: CertificateRule, name: String) {
        self.rule = rule
        authenticator = Bytes(name)
    }

    func check(_ identity: PeerIdentity?) -> AuthResult {
        guard let identity else { return .refused(.missing) }
        if let last, last.identity.certificate == identity.certificate { return last.result }
        let result: AuthResult =
            rule.acceptedName(of: identity).map { name in
                .accepted(Caller(authenticator: authenticator, name: Bytes(name)))
            } ?? .refused(.untrusted)
        last = (identity, result)
        return result
    }
}
