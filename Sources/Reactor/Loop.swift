package import Basics
package import Promises

/// One thread's event loop: the only door through which clock, network, names and chance come in.
///
/// Two conform: `UVLoop` (libuv, the daemon) and `SimLoop` (virtual time, one seed). Everything
/// above this protocol is the same code under both, so every behaviour that depends on time, chance
/// or the network can be replayed. What a loop hands out lives on its thread and is not `Sendable`.
///
/// **Turns.** A loop calls into the code above from its callbacks, one at a time. After each
/// callback it drains its core's ready queue, so promise handlers run before the next event, as
/// microtasks do in Node. Callbacks never nest.
package protocol Loop: AnyObject {
    /// The monotonic clock, read once when the loop woke up: equal within one turn.
    var now: Instant { get }

    /// Nanoseconds since 1970-01-01 00:00 UTC, for dates and log lines; never for durations.
    var unixTime: Int64 { get }

    /// The capability from which confined promises are made on this loop.
    var local: LocalContext { get }

    /// This core's random numbers.
    var entropy: Entropy { get }

    /// What this loop may open of the process's file descriptors, and how often there were none.
    var descriptors: LoopDescriptors { get }

    /// Runs `action` once, `delay` from now. Zero and less mean the next pass, never inline.
    /// Timers that are due together fire in the order in which they were made; the turn is drained
    /// after each.
    @discardableResult
    func timer(after delay: Duration, _ action: @escaping () -> Void) -> Timer

    /// Opens a connection. Rejects with `IOFailure`, which is `outOfDescriptors` at the ceiling of
    /// `descriptors`. Cancelling the promise gives the attempt up and closes what was opened.
    func connect(to address: SocketAddress) -> LocalPromise<any ByteStream>

    /// Binds and listens at once; `accept` then gets every new connection, not yet reading.
    /// With `sharedPort` several loops of one process may listen on the same address
    /// (SO_REUSEPORT); the kernel spreads the connections over them.
    func listen(
        on address: SocketAddress, sharedPort: Bool, accept: @escaping (any ByteStream) -> Void
    ) throws(IOFailure) -> any Listener

    /// The host names of this loop's process; nil while the loop ends.
    var names: NameResolver? { get }
}

/// A bound socket that accepts connections. Dropping it closes it.
///
/// While descriptors are short, at the ceiling of `LoopDescriptors` or because the system has none
/// left, connections wait in the kernel's queue; the listener looks again every 100 ms.
package protocol Listener: AnyObject {
    /// The address bound to, with the port that the system chose where 0 was asked for.
    var address: SocketAddress { get }

    /// Stops calling `accept`; connections wait in the kernel's queue, up to its length.
    func pause()

    /// Accepts again.
    func resume()

    /// Hands over every connection that already waits, as far as there are descriptors, then stops
    /// listening for good. `accept` is called from inside this call, for the last time.
    func close()
}
