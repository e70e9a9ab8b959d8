import Basics
import Testing

@testable import Gateway

/// The places of a WebSocket at which a frame may begin.
@Suite struct WebSocketFramesTests {
    private static let frames: [[UInt8]] = [
        [0x81, 0x00], [0x81, 0x02, 0x48, 0x69], [0x01, 0x82, 1, 2, 3, 4, 0x49, 0x6B],
        [0x82, 126, 0, 130] + [UInt8](repeating: 0x88, count: 130),
        [0x82, 0xFF, 0, 0, 0, 0, 0, 0, 0, 3, 9, 9, 9, 9, 0x88, 0x88, 0x88],
        [0x89, 0x80, 1, 2, 3, 4],
    ]

    private static func read(_ bytes: [UInt8], into frames: inout WebSocketFrames) {
        frames.read(bytes.span)
    }

    /// In pieces of every size.
    @Test(arguments: 1...20) func findsTheEndsOfFrames(_ size: Int) {
        var frames = WebSocketFrames()
        for frame in Self.frames {
            #expect(frames.isBetweenFrames)
            var rest = frame[...]
            while !rest.isEmpty {
                Self.read(Array(rest.prefix(size)), into: &frames)
                rest = rest.dropFirst(size)
                #expect(frames.isBetweenFrames == rest.isEmpty)
            }
        }
        #expect(!frames.hasClosed)
    }

    @Test func findsSeveralFramesInOnePiece() {
        var frames = WebSocketFrames()
        Self.read(Self.frames.flatMap { $0 }, into: &frames)
        #expect(frames.isBetweenFrames && !frames.hasClosed)
        Self.read([0x88, 0x02, 0x03], into: &frames)
        #expect(!frames.isBetweenFrames && frames.hasClosed)
    }

    /// The length of the frame does not fit: the rest is never a boundary.
    @Test func longestLengthDoesNotOverflow() {
        var frames = WebSocketFrames()
        Self.read([0x82, 0xFF] + [UInt8](repeating: 0xFF, count: 8), into: &frames)
        Self.read([0, 0], into: &frames)
        #expect(!frames.isBetweenFrames)
    }

    @Test func masksTheFrameToTheBackend() {
        #expect(WebSocketFrames.goingAway().array == [0x88, 0x02, 0x03, 0xE9])
        let masked = WebSocketFrames.goingAway(mask: 0x0403_0201).array
        #expect(masked == [0x88, 0x82, 1, 2, 3, 4, 0x03 ^ 1, 0xE9 ^ 2])
    }
}
