import Basics
import CNGHTTP2

/// The limit of a client's streams (RFC 9113 5.1.2). The session keeps it, because nghttp2 would end
/// the connection of a client that exceeds the limit after acknowledging it; only the stream is to end.
extension H2Session {
    /// Whether a frame has settings of this side.
    func isSettings(_ frame: Span<UInt8>) -> Bool {
        frame.count >= Engine.headBytes && frame[3] == UInt8(NGHTTP2_SETTINGS.rawValue)
            && frame[4] & UInt8(NGHTTP2_FLAG_ACK.rawValue) == 0
    }

    /// Writes the first SETTINGS of a server, with the limit, which nghttp2 does not know.
    func writeSettings(_ frame: Span<UInt8>) {
        mustAnnounceStreams = false
        let entry = Self.settingsEntry(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, limits.streams)
        let length = UInt32(clamping: frame.count - Engine.headBytes + entry.count)
        var head = Array(Self.bigEndian(length).dropFirst())
        head.append(copying: frame.extracting(head.count..<Engine.headBytes))
        head += entry
        events?.writeFrames(head.span, frame.extracting(Engine.headBytes...))
    }

    /// RFC 9113 6.5.1.
    private static func settingsEntry(_ id: nghttp2_settings_id, _ value: Int) -> [UInt8] {
        bigEndian(id.rawValue).suffix(2) + bigEndian(UInt32(clamping: value))
    }

    private static func bigEndian(_ number: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    /// Whether a client's new stream exceeds the limit.
    var isFull: Bool { role == .server && streams.count >= limits.streams }

    /// Refuses a new stream, whose header block is only decoded. False ends the connection.
    func refuseStream(_ id: Int32) -> Bool {
        events?.invalidFrameReceived()
        nghttp2_submit_rst_stream(
            raw, UInt8(NGHTTP2_FLAG_NONE.rawValue), id, H2Code.refusedStream.number)
        // Before it knows the limit, a client may exceed it.
        return charge(isLimitKnown ? .reset : .frame)
    }
}
