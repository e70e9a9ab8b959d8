import Basics
import Reactor

/// A pool, as its calls and its connections see it: they report to it, and it decides. Confined to the
/// loop.
protocol CallPool: AnyObject {
    var loop: any Loop { get }

    var now: Instant { get }

    /// Runs an action in this loop iteration, never inside this call.
    func runSoon(_ action: @escaping () -> Void)

    func cancelCall(_ call: PendingCall)

    /// A connection can be used again.
    func returnConnection(_ id: ConnectionID)

    /// A connection is closed, or could not be made.
    func removeConnection(_ id: ConnectionID)

    /// A connection failed during a call. If the connection was a reused one, the request may be resent on
    /// a new connection that replaces it, once at most.
    func handleFailure(
        of call: PendingCall, on id: ConnectionID, _ failure: ClientFailure, mayResend: Bool)

    // MARK: HTTP/2

    /// The number of calls that a connection serves at once has changed.
    func setCapacity(_ id: ConnectionID, _ capacity: Int)

    /// A backend has stated its limit of streams; later connections begin with it.
    func connectionAccepts(streams: Int)

    /// The backend has requested fewer connections: makes none for a second.
    func pauseConnecting()

    /// The backend has not processed the request: sends it again on another connection, whatever its
    /// method.
    ///
    /// - Parameter isCounted: false if the backend has processed other calls of the connection. A
    ///   server that ends each connection after some requests, as nginx does, refuses the later requests
    ///   of a busy gateway. Each new connection takes some of them, so that all are processed in the end,
    ///   however often one is sent again.
    func resendUnprocessed(_ call: PendingCall, _ cause: ClientFailure.Cause, isCounted: Bool)

    /// The connection was lost, and no response had begun: sends the request once more if that is safe.
    func resendLost(_ call: PendingCall, after failure: ClientFailure)

    /// The backend requires HTTP/1.1 for the request (RFC 9113 7): uses it for a while, where the
    /// configuration allows that.
    func resendOverHTTP1(_ call: PendingCall)
}

/// Identifies one connection of a pool, or the attempt to make it, while it exists.
struct ConnectionID: Hashable {
    let slot: Int
}
