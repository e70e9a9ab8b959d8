package import Basics
package import Promises

/// One thread's event loop: the only source of time, network access, names and randomness.
///
/// Two conform: `UVLoop` (libuv, the daemon) and `SimLoop` (virtual time, one seed). The code above
/// this protocol is the same under both, so any behaviour that depends on time, randomness or the
/// network can be replayed. All objects of a loop stay on its thread and are not `Sendable`.
///
/// **Callbacks.** A loop calls the code above it from its callbacks, one at a time; callbacks never
/// nest. After each callback it drains its worker's ready queue, so promise handlers run before the
/// next event, like microtasks in Node.
package protocol Loop: AnyObject {
    /// The monotonic clock, read once when the loop woke up: constant during a callback.
    var now: Instant { get }

    /// The monotonic clock, read at this very moment: for the time that the gateway itself takes, which
    /// passes within one turn. Never before `now`.
    var exactNow: Instant { get }

    /// Nanoseconds since 1970-01-01 00:00 UTC, for dates and log lines; never for durations.
    var unixTime: Int64 { get }

    /// Makes promises that are confined to this loop.
    var local: LocalContext { get }

    /// This worker's random numbers.
    var entropy: Entropy { get }

    /// The limits of this loop for file descriptors, and how often it reached them.
    var descriptors: LoopDescriptors { get }

    /// How long the iterations of this loop take; nothing in virtual time, where code takes no time.
    var iterations: LoopIterations { get }

    /// What the streams of this loop hold by themselves.
    var memory: LoopMemory { get }

    /// Runs `action` once, `delay` from now. A delay of zero or less means the next loop iteration,
    /// never this call. Timers that are due together fire in the order of their creation; the loop
    /// drains the ready queue after each.
    @discardableResult
    func timer(after delay: Duration, _ action: @escaping () -> Void) -> Timer

    /// Opens a connection. Rejects with `IOFailure`, which is `outOfDescriptors` at the ceiling of
    /// `descriptors`. Cancelling the promise cancels the attempt and closes its socket.
    func connect(to address: SocketAddress) -> LocalPromise<any ByteStream>

    /// Binds and listens at once, and passes every new connection to `accept`, before it reads.
    /// With `sharedPort` several loops of one process may listen on the same address
    /// (SO_REUSEPORT); the kernel distributes the connections over them.
    func listen(
        on address: SocketAddress, sharedPort: Bool, accept: @escaping (any ByteStream) -> Void
    ) throws(IOFailure) -> any Listener

    /// The host names of this loop's process; nil while the loop closes.
    var names: NameResolver? { get }
}

/// A bound socket that accepts connections. Releasing it closes it.
///
/// While descriptors are short, at the ceiling of `LoopDescriptors` or because the system has none
/// left, connections stay in the kernel's queue; the listener tries again every 100 ms.
package protocol Listener: AnyObject {
    /// The bound address, with the port that the system chose for port 0.
    var address: SocketAddress { get }

    /// Stops calling `accept`; the kernel queues connections up to its limit.
    func pause()

    /// Accepts again.
    func resume()

    /// Accepts every queued connection, as far as there are descriptors, then stops listening.
    /// `accept` is called from inside this call, for the last time.
    func close()
}
