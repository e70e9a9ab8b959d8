import Basics
import HTTPClient
import Reactor

/// What an authenticator needs from its worker.
struct AuthSurroundings {
    let backends: [Backend]
    let pools: ConnectionPools
    let loop: any Loop
    let log: Log?
    let keyFetching: KeyFetching

    /// When the keys of issuers are fetched.
    enum KeyFetching {
        /// At the start, and again in the background.
        case always
        /// When a token needs them: for `explain --run`, which handles one request.
        case whenNeeded
        /// Nothing is verified.
        case never
    }
}
