package import Basics
package import HTTP

/// One stream of a session: a request and its response. The session owns it until both sides have
/// ended or one has reset it; confined to the session's thread.
package final class H2Stream {
    package let id: Int32
    /// Set by the owner of the session when it learns of the stream. Released at the end.
    package var handler: (any H2StreamEvents)?
    /// False after both sides have ended, or one has reset it.
    package internal(set) var isOpen = true
    /// This side has reset it, and the frame is not sent yet.
    var isResetting = false
    /// The index in the session's table.
    var index: Int
    var outgoing = OutgoingBody()
    /// Since when bytes have been waiting to be sent without a pause.
    package internal(set) var queuedSince: Instant
    /// When the peer last took some, if that was later.
    package internal(set) var lastTaken: Instant
    /// `sentBytes` at the beginning of that wait.
    package internal(set) var sentWhenQueued = 0
    /// `outputLow` is called, once, when no more bytes than this wait.
    package var lowMark: Int?
    /// Bytes of the body that were sent.
    package internal(set) var sentBytes = 0
    /// The peer sent a frame or a message that is malformed; the stream is reset.
    package internal(set) var isMalformed = false
    /// What is wrong with the head or the trailers of a response; nil for a fault that only nghttp2
    /// knows.
    package internal(set) var fault: WireError?
    /// The head of this side's request was written, so that the peer may have received it.
    package internal(set) var hasSentHead = false
    /// The request is a HEAD: its response has no body, whatever its fields state.
    package internal(set) var isHeadRequest = false
    /// The final head was received: another one has the trailers.
    var hasReceivedHead = false

    init(_ id: Int32, index: Int, at now: Instant) {
        self.id = id
        self.index = index
        queuedSince = now
        lastTaken = now
    }

    /// Whether this side may still send on it.
    var takesOutput: Bool { isOpen && !isResetting }

    /// Bytes that wait for the windows of the peer, or for their turn.
    package var queuedBytes: Int { outgoing.count }
}

/// Receives what happens on one stream. No call comes after `streamClosed`.
package protocol H2StreamEvents: AnyObject {
    /// A client's request got an interim or the final response. `bodyEnded` follows unless it ends
    /// the stream.
    func responseReceived(_ head: ResponseHead, endsStream: Bool)

    /// The next bytes of the body, valid during the call only. The peer gets credit for them with
    /// `didConsume`.
    func dataReceived(_ piece: Span<UInt8>)

    /// The peer has ended its side behind a body.
    func bodyEnded(trailers: Fields)

    /// All bytes that were to be sent are sent; more may be appended.
    func outputDrained()

    /// No more bytes than `lowMark` wait to be sent.
    func outputLow()

    /// The end of this side was sent.
    func outputEnded()

    /// The stream is closed: both sides have ended, or one has reset it.
    ///
    /// - Parameter isReset: one side has ended it early
    func streamClosed(_ code: H2Code, isReset: Bool)
}

extension H2StreamEvents {
    package func responseReceived(_ head: ResponseHead, endsStream: Bool) {}

    package func outputLow() {}
}
