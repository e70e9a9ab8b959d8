import Basics
import Reactor

/// The log of the fetches for one authenticator: one line when they begin to fail, one when they
/// succeed again, and one for each set that verifies no token.
struct KeyLog {
    let authenticator: Bytes
    /// Nil where nothing is logged, as in `explain`.
    let log: Log?

    func recordFailure(_ problem: String, hasKeys: Bool) {
        guard let log else { return }
        log.write(.warning, "keys of an issuer not fetched") { line in
            line.add("auth", untrusted: authenticator)
            line.add("problem", untrusted: Bytes(problem))
            line.add("keys", hasKeys ? "former" : "none")
        }
    }

    func recordUselessKeys(_ problems: [String]) {
        guard let log else { return }
        log.write(.warning, "keys of an issuer verify no token") { line in
            line.add("auth", untrusted: authenticator)
            line.add("problem", untrusted: Bytes(problems.joined(separator: "; ")))
        }
    }

    func recordSuccess() {
        guard let log else { return }
        log.write(.info, "keys of an issuer fetched again") { line in
            line.add("auth", untrusted: authenticator)
        }
    }
}
