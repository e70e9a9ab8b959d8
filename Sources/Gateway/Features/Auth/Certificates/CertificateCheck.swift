import Basics
import HTTP
import Reactor

/// Accepts the identity that a client has proved with its certificate in the TLS handshake.
///
/// The listener has verified the certificate; this only decides whether its names are accepted. The
/// last caller is kept: the requests of a connection have the same one.
final class CertificateCheck: CredentialCheck {
    private let rule: CertificateRule
    private let authenticator: Bytes
    private var last: (identity: PeerIdentity, result: AuthResult)?

    init(_ rule: CertificateRule, name: String) {
        self.rule = rule
        authenticator = Bytes(name)
    }

    var guesses: GuessRule { .ignored }

    func result(of credential: Bytes, _ context: RequestContext, until end: Instant) -> AuthResult {
        result(of: context.peer.facts?.identity)
    }

    func result(of identity: PeerIdentity?) -> AuthResult {
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
