/// A connected byte stream (a socket, or a secure stream over one), confined to its loop.
///
/// The contract, the same for every conformer and held by one test suite:
///
/// - **Ownership.** Whoever holds the stream owns it: dropping it, or `close()`, closes the
///   connection; dropped with writes that gathered, at the end of the pass, and its delegate may
///   hear of it until then. From `start` until `close` the stream holds its delegate strongly, so a
///   live connection keeps its protocol alive; `close` lets go of it.
/// - **Calls to the delegate** come from the loop, never from inside a call to the stream. After
///   `close()`, and after `streamFailed`, none comes at all.
/// - **Reading** begins with `start`. The bytes handed over are borrowed from a buffer that is used
///   again: what is needed later must be copied. `pauseReading` takes effect at once, also before
///   `start`; nothing is lost, and neither the end nor a reset is noticed until `resumeReading`. The
///   end of the other side's sending is told once, by `streamEnded`; writing still works.
/// - **Writing** never blocks and keeps order. Small writes gather, and are offered to the kernel
///   together at the end of the loop's pass: until then `hasOfferedAll` is false, and nothing that
///   arrives can be an answer to them. What the kernel does not take when it is offered is sent
///   later: `unsentBytes` is what waits, `streamBlocked` tells of it unless that is seen as soon as
///   it is written, and `streamDrained` tells when nothing waits any more. A failed write is told by
///   `streamFailed`. Writing after `close` or `finishWriting` does nothing.
/// - **Failures** (a reset, a broken pipe) are told once, by `streamFailed`; the stream is closed
///   already when that call comes. A failed write does not lose what has arrived: unless reading is
///   paused, that is delivered first. A failure before `start` is told after it.
/// - **End of the loop.** A loop that closes ends the streams that are still open: each delegate gets
///   `streamFailed(.cancelled)`.
package protocol ByteStream: AnyObject {
    /// Begins to deliver what arrives. Called once.
    func start(_ delegate: any ByteStreamDelegate)

    /// Sends `head`, then `body`, at the end of the pass with what else is written until then, or at
    /// once where that is more than `StreamGathering.bytesMax`.
    func write(_ head: Span<UInt8>, _ body: Span<UInt8>)

    /// Bytes offered to the kernel and not yet taken.
    var unsentBytes: Int { get }

    /// Whether what was written last has been offered to the kernel, so that the other side may know
    /// of it: not while it gathers, and not when the kernel refused it.
    var hasOfferedAll: Bool { get }

    /// Forgets what gathered. The connection is good for nothing but `close` then.
    func discardGathered()

    /// Nothing is delivered until `resumeReading`.
    func pauseReading()

    /// Delivers again what arrives, and what waited.
    func resumeReading()

    /// Sends what gathered and what waits, then tells the other side that no more will come (half
    /// close).
    func finishWriting()

    /// Closes both directions at once. What gathered is offered first; what waits is forgotten.
    func close()

    /// The other side's address; nil for a unix socket.
    var peer: SocketAddress? { get }
}

extension ByteStream {
    /// Sends one run of bytes.
    package func write(_ bytes: Span<UInt8>) {
        write(bytes, Span())
    }
}

/// What a stream tells its user. See `ByteStream` for the contract.
package protocol ByteStreamDelegate: AnyObject {
    /// Bytes arrived; they are borrowed for the time of the call. Never empty.
    func streamReceived(_ bytes: Span<UInt8>)

    /// The other side will send no more.
    func streamEnded()

    /// Everything written so far has been taken by the kernel, after some of it had to wait.
    func streamDrained()

    /// Some of what had gathered was not taken by the kernel when it was offered; `streamDrained`
    /// tells when all of it is.
    func streamBlocked()

    /// The connection is lost and the stream closed.
    func streamFailed(_ failure: IOFailure)
}

/// How streams gather small writes.
///
/// A write wakes whoever waits at the other end, which costs more than the write itself. When the
/// writes of a pass go out one behind the other, most of those who are written to are awake already.
package enum StreamGathering {
    /// In bytes; more than that is worth a system call of its own, and no copy.
    package static let bytesMax = 16 * 1024
}
