import Basics
import Reactor
import SimReactor

/// Receives a body as its script demands, with pauses, and compares it with what the other side sends.
final class BodyReader {
    private let script: ReadingScript
    private let content: StreamContent
    private let stream: SimStream
    private let loop: SimLoop
    /// Without a close frame behind them.
    var received: Int { total - closeFrameBytes }
    private var total = 0
    /// The position of the first byte that is not the one which was sent.
    private var otherByte: Int?
    private var latest: [UInt8] = []
    private(set) var isComplete = false
    private(set) var trailers: [(name: String, value: String)] = []
    private(set) var isPaused = false
    /// It never reads on.
    private(set) var hasStopped = false
    private var pauses = 0
    var isOver = false

    init(_ script: ReadingScript, _ content: StreamContent, of stream: SimStream, _ loop: SimLoop) {
        self.script = script
        self.content = content
        self.stream = stream
        self.loop = loop
    }

    func receive(_ bytes: [UInt8]) {
        otherByte = otherByte ?? content.firstDifference(bytes, from: total)
        total += bytes.count
        latest = (latest + bytes.suffix(8)).suffix(8)
        pauseIfScripted()
    }

    /// The position of the first byte that is neither the one which was sent nor a part of a close frame.
    var difference: Int? { closeFrameBytes > 0 ? nil : otherByte }

    /// The bytes of a close frame of WebSocket, or of its beginning, at the end of the body.
    var closeFrameBytes: Int {
        guard let otherByte else { return 0 }
        let counts = (1...8).reversed().filter { $0 <= latest.count && total - $0 <= otherByte }
        return counts.first { Self.beginsCloseFrame(Array(latest.suffix($0))) } ?? 0
    }

    /// Whether the bytes begin a frame with the status 1001, with or without a mask (RFC 6455 5.2).
    private static func beginsCloseFrame(_ bytes: [UInt8]) -> Bool {
        let isMasked = bytes.count > 1 && bytes[1] == 0x82
        guard isMasked else { return [0x88, 0x02, 0x03, 0xE9].starts(with: bytes) }
        let key = bytes.dropFirst(2).prefix(4)
        let status = zip(bytes.dropFirst(6), key).map { $0 ^ $1 }
        return bytes[0] == 0x88 && [0x03, 0xE9].starts(with: status)
    }

    func complete(_ trailers: [(name: String, value: String)]) {
        isComplete = true
        self.trailers = trailers
    }

    /// Pauses the connection if the script says so.
    func pauseIfScripted() {
        guard pauses < script.pauses.count, received >= script.pauses[pauses].after, !isPaused
        else {
            return
        }
        let pause = script.pauses[pauses]
        pauses += 1
        isPaused = true
        stream.pauseReading()
        guard let milliseconds = pause.milliseconds else {
            hasStopped = true
            return
        }
        loop.timer(after: .milliseconds(milliseconds)) { [self] in
            isPaused = false
            if !isOver { stream.resumeReading() }
        }
    }
}
