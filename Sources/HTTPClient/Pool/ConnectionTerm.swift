import Basics
import Reactor

/// How long a connection may get calls.
struct ConnectionTerm {
    /// When it becomes too old.
    let end: Instant
    /// The address of the backend; nil on a unix socket, and if it is unknown.
    let address: IPAddress?

    /// - Parameters:
    ///   - maxAge: the last fifth of it is drawn, so that connections that were made together do not
    ///     end together
    ///   - peer: of the connection
    init(from now: Instant, _ maxAge: Duration, to peer: SocketAddress?, _ entropy: Entropy) {
        let spread = Int(clamping: maxAge.inNanoseconds / 5)
        end = now + (maxAge - .nanoseconds(entropy.below(spread + 1)))
        if case .ip(let address, _)? = peer { self.address = address } else { address = nil }
    }
}
