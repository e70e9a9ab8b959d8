import Basics
import CNGHTTP2

/// Writes the frames of nghttp2, some of them changed.
extension H2Session {
    func writeFrame(_ frame: Span<UInt8>) {
        if mustAnnounceStreams, isSettings(frame) { return writeSettings(frame) }
        if isEmptyBlock(frame) { return writeEmptyData(frame) }
        events?.writeFrames(frame, Span())
    }

    /// Whether it is a HEADERS frame without fields: the end of a body without trailers.
    private func isEmptyBlock(_ frame: Span<UInt8>) -> Bool {
        frame.count == Engine.headBytes && frame[3] == UInt8(NGHTTP2_HEADERS.rawValue)
    }

    /// Writes a DATA frame instead, which peers expect at this place. An empty one needs no window
    /// (RFC 9113 6.9.1), but nghttp2 does not send it while the window is closed.
    private func writeEmptyData(_ frame: Span<UInt8>) {
        var head = InlineArray<9, UInt8> { frame[$0] }
        head[3] = UInt8(NGHTTP2_DATA.rawValue)
        head[4] = UInt8(NGHTTP2_FLAG_END_STREAM.rawValue)
        events?.writeFrames(head.span, Span())
    }
}
