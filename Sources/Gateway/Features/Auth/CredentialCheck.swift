import Basics
import HTTP
import Reactor

/// Decides about the credentials of one authenticator, on one worker. Each kind of `auth` is a
/// conformer: `KeyCheck`, `PasswordCheck`, `TokenCheck`, `CertificateCheck`.
///
/// `EndpointAuth` reads the credential from its `CredentialSource`, counts decisions and failures, and
/// responds; a conformer does none of this.
protocol CredentialCheck: AnyObject {
    /// Decides about the credential of a request.
    ///
    /// - Parameter end: when the request stops to wait for the decision
    func result(of credential: Bytes, _ context: RequestContext, until end: Instant) -> AuthResult

    /// What `auth_failures` does with its credentials.
    var guesses: GuessRule { get }

    /// The caller of a credential that was accepted before and need not be checked again: its check
    /// neither waits nor costs much.
    func rememberedCaller(of credential: Bytes) -> Caller?

    /// The age of keys that are fetched, in seconds; nil without such keys, and before the first fetch.
    var keysAge: Int64? { get }

    /// Stops what runs in the background.
    func stop()
}

extension CredentialCheck {
    func rememberedCaller(of credential: Bytes) -> Caller? { nil }
    var keysAge: Int64? { nil }
    func stop() {}
}

/// What `auth_failures` does with the credentials of one kind.
enum GuessRule {
    /// Nothing, because no client can find a valid one by trying: a certificate has to be signed.
    case ignored
    /// Counts refused ones. All are checked, because a valid one is too long to be guessed.
    case counted
    /// Counts refused ones. Beyond the limit only remembered ones pass, because the others could be
    /// guessed or cost much to check.
    case limited
}
