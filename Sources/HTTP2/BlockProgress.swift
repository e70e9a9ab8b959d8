import CNGHTTP2

/// Whether a header block is being received: HEADERS, and CONTINUATION until one ends the block.
///
/// It reads the heads of the frames itself: nghttp2 does not report the rest of a block whose stream
/// was reset, and counts a CONTINUATION again for each piece in which its head arrives.
struct BlockProgress {
    /// Bytes until the next head: of the client's preface, then of payloads.
    private var rest: Int
    /// Of the head that is being received: the bytes so far, and what they state.
    private var headBytes = 0
    private var length = 0
    private var type: UInt8 = 0
    private var flags: UInt8 = 0
    /// The last head began a frame of a block, and whether it is the last one.
    private var isBlockFrame = false
    private var endsBlock = false
    private var continuations = 0
    /// CONTINUATION frames of the block that has had the most.
    private(set) var mostContinuations = 0

    /// The preface of a client (RFC 9113 3.4), in bytes.
    private static let prefaceBytes = 24

    init(_ role: H2Session.Role) {
        rest = role == .server ? Self.prefaceBytes : 0
    }

    var isInBlock: Bool { isBlockFrame && (rest > 0 || !endsBlock) }

    /// Received bytes.
    mutating func read(_ bytes: Span<UInt8>) {
        var position = 0
        while position < bytes.count {
            if rest > 0 {
                let count = min(rest, bytes.count - position)
                rest -= count
                position += count
            } else {
                readHead(bytes[position])
                position += 1
            }
        }
    }

    /// RFC 9113 4.1.
    private mutating func readHead(_ byte: UInt8) {
        switch headBytes {
        case 0...2: length = length << 8 | Int(byte)
        case 3: type = byte
        case 4: flags = byte
        default: break
        }
        headBytes += 1
        guard headBytes == Engine.headBytes else { return }
        let isContinuation = type == UInt8(NGHTTP2_CONTINUATION.rawValue)
        continuations = isContinuation ? continuations + 1 : 0
        mostContinuations = max(mostContinuations, continuations)
        isBlockFrame = isContinuation || type == UInt8(NGHTTP2_HEADERS.rawValue)
        endsBlock = flags & UInt8(NGHTTP2_FLAG_END_HEADERS.rawValue) != 0
        (rest, length, headBytes) = (length, 0, 0)
    }
}
