import Basics
import JOSE
import Reactor

/// The log of the fetches for one authenticator: one line when they begin to fail, one when they
/// succeed again, and one for each set that verifies no token.
struct KeyLog {
    let authenticator: Bytes
    /// The algorithms of the tokens that the keys must verify.
    let algorithms: [SignatureAlgorithm]
    /// Nil where nothing is logged, as in `explain`.
    let log: Log?

    func record(_ event: RefreshEvent<IssuerKeySet>) {
        switch event {
        case .failed(let error, let hasKeys): recordFailure("\(error)", hasKeys: hasKeys)
        case .recovered: recordSuccess()
        case .changed(let set): recordUselessKeys(set.keys)
        }
    }

    /// Without this line, every token is refused and nothing shows that the set is the reason.
    func recordUselessKeys(_ keys: KeySet) {
        guard let log, !keys.canVerify(algorithms) else { return }
        log.write(.warning, "keys of an issuer verify no token") { line in
            let problems = keys.problems(with: algorithms).joined(separator: "; ")
            line.add("auth", untrusted: authenticator)
            line.add("problem", untrusted: Bytes(problems))
        }
    }

    private func recordFailure(_ problem: String, hasKeys: Bool) {
        guard let log else { return }
        log.write(.warning, "keys of an issuer not fetched") { line in
            line.add("auth", untrusted: authenticator)
            line.add("problem", untrusted: Bytes(problem))
            line.add("keys", hasKeys ? "former" : "none")
        }
    }

    private func recordSuccess() {
        guard let log else { return }
        log.write(.info, "keys of an issuer fetched again") { line in
            line.add("auth", untrusted: authenticator)
        }
    }
}
