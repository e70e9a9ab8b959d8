/// The owner of a connection. Positions are those among all bytes of a direction.
protocol FrameEvents: AnyObject {
    func headReceived(_ head: ReceivedHead)
    func dataReceived(_ bytes: [UInt8], on stream: Int, endsStream: Bool, at range: Range<Int>)
    func streamReset(_ stream: Int, _ code: Int, at range: Range<Int>)
    func goAwayReceived(lastID: Int, _ code: Int, at range: Range<Int>)
    /// The end of this side of a stream was sent.
    func outputEnded(_ stream: Int, at position: Int)
    /// The gateway has broken the protocol.
    func frameFault(_ text: String)
    /// The bytes are not HTTP/2.
    func connectionBroken(_ why: String)
}

/// A complete header block.
struct ReceivedHead {
    let stream: Int
    let fields: [PeerField]
    let endsStream: Bool
    /// Positions of its frames among all bytes received.
    let range: Range<Int>

    subscript(name: String) -> String? { fields.first { $0.name == name }?.value }
}
