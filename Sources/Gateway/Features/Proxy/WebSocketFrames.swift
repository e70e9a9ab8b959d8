import Basics

/// Follows the frames of one direction of a WebSocket (RFC 6455 5.2), so that the gateway can send a close
/// frame behind a complete one. It reads the heads of frames only. Confined to its worker.
package struct WebSocketFrames {
    /// How long close frames may take to leave at the end of a drain.
    package static let closeTime = Duration.milliseconds(250)

    /// Bytes of the masking key and the payload that have not arrived.
    private var missing: UInt64 = 0
    /// Bytes of the present head that have arrived.
    private var headBytes = 0
    /// Bytes of the extended length that have not arrived.
    private var lengthBytes = 0
    private var length: UInt64 = 0
    private var isMasked = false
    /// Whether a close frame has begun, behind which nothing may follow (5.5.1).
    private(set) var hasClosed = false

    /// Whether a frame may begin here.
    var isBetweenFrames: Bool { headBytes == 0 && missing == 0 }

    mutating func read(_ piece: Span<UInt8>) {
        var index = 0
        while index < piece.count {
            if missing > 0 {
                let skipped = min(missing, UInt64(piece.count - index))
                missing -= skipped
                index += Int(skipped)
            } else {
                readHead(piece[index])
                index += 1
            }
        }
    }

    private mutating func readHead(_ byte: UInt8) {
        headBytes += 1
        switch headBytes {
        case 1:
            if byte & 0x0F == 0x8 { hasClosed = true }
            return
        case 2:
            isMasked = byte & 0x80 != 0
            length = UInt64(byte & 0x7F)
            lengthBytes = length == 126 ? 2 : length == 127 ? 8 : 0
            if lengthBytes > 0 { length = 0 }
        default:
            length = length << 8 | UInt64(byte)
            lengthBytes -= 1
        }
        guard lengthBytes == 0 else { return }
        headBytes = 0
        let (sum, overflows) = length.addingReportingOverflow(isMasked ? 4 : 0)
        missing = overflows ? .max : sum
    }

    // MARK: The close frame

    /// A close frame with the status 1001, "going away" (7.4.1).
    ///
    /// - Parameter mask: of a frame to the backend, for which the gateway is a client (5.3)
    static func goingAway(mask: UInt64? = nil) -> Bytes {
        let status: [UInt8] = [0x03, 0xE9]
        guard let mask else { return Bytes([0x88, 0x02] + status) }
        let key = (0..<4).map { UInt8(truncatingIfNeeded: mask >> (8 * UInt64($0))) }
        return Bytes([0x88, 0x82] + key + [status[0] ^ key[0], status[1] ^ key[1]])
    }
}

/// Both directions of an open WebSocket.
final class WebSocketState {
    var download = WebSocketFrames()
    var upload = WebSocketFrames()
    /// What the client sends.
    weak var uploadPipe: ProxyPipe?
}
