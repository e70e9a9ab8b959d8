package import HTTP

/// Receives what happens on a connection, and writes its bytes.
package protocol H2SessionEvents: AnyObject {
    /// A client has sent the head of a request, or one that cannot be served.
    ///
    /// - Parameter endsStream: no body follows
    func requestReceived(
        _ stream: H2Stream, _ head: Result<RequestHead, WireError>, endsStream: Bool)

    /// The peer has sent a frame or a message that is malformed: its stream, or the connection, ends.
    func invalidFrameReceived()

    /// The peer has sent SETTINGS.
    func settingsReceived()

    /// The peer has acknowledged a PING of this side.
    func pongReceived()

    /// The peer opens no more streams, and has not processed those above `lastID`.
    func goAwayReceived(lastID: Int32, _ code: H2Code)

    /// Sends bytes: a frame, or its head and its body.
    func writeFrames(_ head: Span<UInt8>, _ body: Span<UInt8>)
}

extension H2SessionEvents {
    /// Only clients receive no requests.
    package func requestReceived(
        _ stream: H2Stream, _ head: Result<RequestHead, WireError>, endsStream: Bool
    ) {}

    /// Only clients are bound by the settings of the peer.
    package func settingsReceived() {}
}
