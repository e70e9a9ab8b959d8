/// A connected byte stream (a socket, or a TLS stream over one), confined to its loop.
///
/// The contract, the same for every conformer and tested by one suite:
///
/// - **Ownership.** The holder of the stream owns it: releasing it, or `close()`, closes the
///   connection. A stream that is released with buffered writes closes at the end of the loop
///   iteration, and may call its delegate until then. From `startReading` until `close` the stream
///   holds its delegate strongly, so an open connection keeps its protocol handler alive.
/// - **Calls to the delegate** come from the loop, never from inside a call to the stream. There
///   are none after `close()` and none after `streamFailed`.
/// - **Reading** begins with `startReading`. The received bytes are borrowed from a buffer that the
///   next read overwrites; the delegate copies what it needs later. `pauseReading` takes effect at
///   once, also before `startReading`; no data is lost, and neither the end nor a reset is reported
///   until `resumeReading`; after `watchForEnd` a stream that is still paused reports by
///   `streamEndPending` that one of them is to come. `streamEnded` reports the end of the peer's data once; writing still
///   works then.
/// - **Writing** never blocks and keeps the order. The stream buffers small writes and offers them
///   to the kernel together at the end of the loop iteration: until then `hasOfferedAll` is false,
///   and nothing that arrives can be a response to them. The stream sends later what the kernel
///   does not take: `unsentBytes` is its size, `streamBlocked` reports it unless the write itself
///   found it, and `streamDrained` reports that nothing is unsent any more. `streamFailed` reports
///   a failed write. Writing after `close` or `finishWriting` does nothing.
/// - **Failures** (a reset, a broken pipe) are reported once, by `streamFailed`; the stream is
///   closed before that call. A failed write does not lose received data: the stream delivers that first. While
///   reading is paused, it does so only for a delegate with `readsAfterFailedWrite`, and waits until reading is
///   resumed. A failure before `startReading` is reported after it.
/// - **End of the loop.** A loop that closes ends the streams that are still open: each delegate
///   gets `streamFailed(.cancelled)`.
package protocol ByteStream: AnyObject {
    /// Starts to deliver received data to `delegate`. Called once.
    func startReading(for delegate: any ByteStreamDelegate)

    /// From now on calls another delegate, after `startReading` and before the stream is closed.
    func replaceDelegate(with delegate: any ByteStreamDelegate)

    /// Sends `head`, then `body`: at the end of the loop iteration together with other small
    /// writes, or at once if these exceed `WriteBuffering.bytesMax`.
    func write(_ head: Span<UInt8>, _ body: Span<UInt8>)

    /// Calls `streamFlushes` of the delegate, once, at the end of the loop iteration, before buffered
    /// writes are offered to the kernel. After `startReading`. A request from inside of that call
    /// causes another call.
    func flushSoon()

    /// Bytes offered to the kernel that it has not taken yet; after a failure, those that were dropped.
    var unsentBytes: Int { get }

    /// Bytes that the kernel has taken and the peer has not acknowledged; 0 where it does not tell. A
    /// kernel reports room again when a part of its buffer is free, so `unsentBytes` can stay the same
    /// for long while the peer reads. A system call.
    var unacknowledgedBytes: Int { get }

    /// The bytes that the stream itself holds, counted by the memory of its loop: its session and its
    /// buffers, if it is encrypted.
    var heldBytes: Int { get }

    /// Whether the last write was offered to the kernel, so that the peer may have received it.
    /// False while it is buffered, and after the kernel refused it.
    var hasOfferedAll: Bool { get }

    /// Drops buffered writes. Only `close` may be called afterwards.
    func discardBuffered()

    /// Stops delivery until `resumeReading`.
    func pauseReading()

    /// Reports the end of the peer's data, and the loss of the connection, by `streamEndPending`:
    /// once each, until `resumeReading`. While reading is paused. Not every system can.
    func watchForEnd()

    /// Continues delivery, beginning with data that arrived during the pause.
    func resumeReading()

    /// Sends buffered and unsent bytes, then ends this side of the connection (half close).
    func finishWriting()

    /// Closes both directions at once. Buffered writes are offered first; unsent bytes are dropped.
    func close()

    /// The same, and makes the end look like a failure to the peer, because data is missing: a reset,
    /// also over TLS, where `close` would send close_notify. Unix sockets have no reset.
    func reset()

    /// The peer's address, `unnamedUnix` for a unix socket; nil if it is unknown, because the
    /// connection was reset before it was accepted. It stays the same until the end.
    var peer: SocketAddress? { get }

    /// The protocol that a client's TLS handshake has selected (ALPN); nil without one.
    var applicationProtocol: String? { get }
}

extension ByteStream {
    /// Only a handshake selects one.
    package var applicationProtocol: String? { nil }

    /// Only an encrypted stream has a session.
    package var heldBytes: Int { 0 }

    /// The bytes that were written and the peer has not taken. Needs a system call.
    package var pendingBytes: Int { unsentBytes &+ unacknowledgedBytes }

    /// `pendingBytes` while the kernel takes no more; else 0.
    package var blockedBytes: Int { unsentBytes > 0 ? pendingBytes : 0 }

    /// Sends a single span.
    package func write(_ bytes: Span<UInt8>) {
        write(bytes, Span())
    }
}

/// Receives the events of a stream. See `ByteStream` for the contract.
package protocol ByteStreamDelegate: AnyObject {
    /// Bytes were received; they are borrowed for the duration of the call. Never empty.
    func streamReceived(_ bytes: Span<UInt8>)

    /// The peer sends no more data.
    func streamEnded()

    /// While reading is paused: the peer has ended, behind data that may not be delivered yet. Only
    /// after `watchForEnd`.
    func streamEndPending(_ end: PendingEnd)

    /// The kernel has taken all unsent bytes.
    func streamDrained()

    /// The kernel did not take all buffered bytes when they were offered; `streamDrained` follows
    /// when it has.
    func streamBlocked()

    /// The loop iteration ends; the last chance to write in it. Only after `flushSoon`.
    func streamFlushes()

    /// The connection is lost, and the stream is closed.
    func streamFailed(_ failure: IOFailure)

    /// Whether received data is still of use while reading is paused and a write has failed: a response may lie
    /// behind the failure. Others learn of the failure at once.
    var readsAfterFailedWrite: Bool { get }
}

extension ByteStreamDelegate {
    /// Only a stream over another stream writes at the end of an iteration.
    package func streamFlushes() {}

    /// Only a connection that awaits a response does.
    package var readsAfterFailedWrite: Bool { false }

    /// Only the side that has work to cancel watches for the end.
    package func streamEndPending(_ end: PendingEnd) {}
}

/// How the peer of a paused stream has ended.
package enum PendingEnd: Sendable {
    /// It sends no more; it may still read.
    case finished
    /// The connection is lost in both directions.
    case lost
}

/// How streams buffer small writes.
///
/// A write wakes the receiving process, which costs more than the write itself. When the writes of
/// one loop iteration go out together, most receivers are already awake.
package enum WriteBuffering {
    /// In bytes. A larger amount is worth a system call of its own and is not copied.
    package static let bytesMax = 16 * 1024
}
