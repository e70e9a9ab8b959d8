package import Basics

/// What a body is written to: the sending side of a connection of HTTP/1.1, or a stream of HTTP/2.
package protocol BodyTarget: AnyObject {
    /// The bytes that were written and the peer has not taken.
    var pendingBytes: Int { get }

    /// Writes a piece; returns the bytes that wait to be sent.
    func writeBody(_ piece: Span<UInt8>) -> Int

    /// The last piece is written.
    func endBody(trailers: Fields)

    /// The body cannot be completed as its head states it. Called at most once, and then nothing else.
    func breakBody(_ error: any Error)
}

/// The source of a body delivered more or fewer bytes than the head states.
package struct WrongLength: Error {}

/// The budget has no room for bytes that the peer does not take.
package struct UnsentBytesExceeded: Error {
    package init() {}
}

/// Writes a body to its target while it arrives from its source. Confined to the loop's thread; the target,
/// or its connection, owns it during the transfer.
///
/// Pauses the source when more than `unsentBytesMax` wait to be sent, until all of them are sent.
package final class BodyWriter: BodySink {
    /// In bytes. 64 KiB: keeps a connection busy for one loop iteration, and bounds the memory for a slow
    /// peer.
    package static let unsentBytesMax = 64 * 1024

    private enum State {
        case writing
        /// The last piece was written, or the source has failed.
        case complete
        case cancelled
    }

    private let source: any BodySource
    private let target: any BodyTarget
    /// As the head states it.
    package let framing: BodyFraming
    /// Bytes of the body that were written.
    package private(set) var bytes = 0
    private var state = State.writing
    private var isPaused = false
    /// Nil if another place counts the unsent bytes, or nothing limits them.
    private let budget: ByteBudget?
    /// The unsent bytes that the budget counts.
    private var countedBytes = 0

    package init(
        _ source: any BodySource, _ framing: BodyFraming, to target: any BodyTarget,
        countedIn budget: ByteBudget? = nil
    ) {
        self.source = source
        self.framing = framing
        self.target = target
        self.budget = budget
    }

    /// Its owner drops it when no byte is unsent any more, or none will be sent.
    deinit { budget?.release(countedBytes) }

    /// Whether the whole body was written, or no more of it will be.
    package var isOver: Bool { state != .writing }

    /// Starts to write. The head must have been written.
    package func start() {
        assert(bytes == 0 && !isPaused, "a body is started twice")
        source.startDelivery(to: self)
    }

    /// Whether what it has written agrees with what the head states. For assertions.
    private var isConsistent: Bool {
        if case .length(let length) = framing, bytes > length { return false }
        return bytes >= 0 && countedBytes >= 0
    }

    /// The rest of the body is not needed.
    package func cancel() {
        let before = state
        state = .cancelled
        if before == .writing { source.cancel() }
    }

    /// The target could not send so many bytes at once.
    package func outputBlocked(unsent: Int) {
        // Freeing memory may have cancelled the transfer.
        guard !count(unsent), state != .cancelled else { return }
        target.breakBody(UnsentBytesExceeded())
    }

    /// The connection has taken all unsent bytes.
    package func outputDrained() {
        _ = count(0)
        guard isPaused, state == .writing else { return }
        isPaused = false
        source.resume()
    }

    /// Sets the bytes that the budget counts to the unsent ones; false if more do not fit.
    private func count(_ unsent: Int) -> Bool {
        guard let budget else { return true }
        assert(unsent >= 0, "fewer bytes are unsent than none")
        let more = unsent - countedBytes
        if more > 0, !budget.reserve(more) { return false }
        if more < 0 { budget.release(-more) }
        countedBytes += more
        assert(isConsistent)
        return true
    }

    // MARK: BodySink

    package var pendingBytes: Int { target.pendingBytes }

    package func bodyReceived(_ piece: Span<UInt8>) {
        assert(state != .cancelled, "a cancelled source delivers a piece")
        guard state == .writing, !piece.isEmpty else { return }
        defer { assert(isConsistent, "more bytes than the head states") }
        // Bytes beyond the stated length would be read as the next message. The end of the transfer cancels
        // the source.
        if case .length(let length) = framing, piece.count > length - bytes {
            return target.breakBody(WrongLength())
        }
        bytes += piece.count
        let unsent = target.writeBody(piece)
        defer {
            assert(
                state != .writing || isPaused || unsent <= Self.unsentBytesMax,
                "a source is not paused although its receiver does not read")
        }
        outputBlocked(unsent: unsent)
        // Which may have ended the transfer.
        guard state == .writing, !isPaused, unsent > Self.unsentBytesMax else { return }
        isPaused = true
        source.pause()
    }

    package func bodyEnded(trailers: Fields) {
        // A source that could not begin reports its end later, possibly after the end of the transfer.
        guard state == .writing else { return }
        state = .complete
        if case .length(let length) = framing, bytes < length {
            return target.breakBody(WrongLength())
        }
        assert(isConsistent, "more bytes than the head states")
        target.endBody(trailers: trailers)
    }

    package func bodyFailed(_ error: any Error) {
        guard state == .writing else { return }
        state = .complete
        target.breakBody(error)
    }
}
