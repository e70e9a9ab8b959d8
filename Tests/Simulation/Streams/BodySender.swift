import Basics
import Reactor
import SimReactor

/// Sends a scripted body on a connection, piece by piece, as fast as the network takes it.
final class BodySender {
    private let script: BodyScript
    private let content: StreamContent
    private let stream: CountedStream
    private let loop: SimLoop
    private let ended: (BodyScript.Ending) -> Void
    /// Bytes of the body that were sent.
    private(set) var sent = 0
    /// Whether the last byte was sent, and the end of the framing.
    private(set) var isComplete = false
    private(set) var isOver = false
    private var isBlocked = false
    private var hasPausedLong = false

    /// - Parameter ended: called when nothing more is sent
    init(
        _ script: BodyScript, _ content: StreamContent, on stream: CountedStream, _ loop: SimLoop,
        ended: @escaping (BodyScript.Ending) -> Void
    ) {
        self.script = script
        self.content = content
        self.stream = stream
        self.loop = loop
        self.ended = ended
    }

    func start(after milliseconds: Int = 0) {
        loop.timer(after: .milliseconds(milliseconds)) { [self] in sendPiece() }
    }

    func cancel() { isOver = true }

    /// The network has taken all bytes.
    func resume() {
        guard isBlocked else { return }
        isBlocked = false
        sendPiece()
    }

    private func sendPiece() {
        guard !isOver else { return }
        guard stream.stream.unsentBytes == 0 else {
            isBlocked = true
            return
        }
        if let pause = script.longPause, sent >= pause.at, !hasPausedLong {
            hasPausedLong = true
            return start(after: pause.milliseconds)
        }
        let count = min(script.pieceMax, script.sentCount - sent)
        guard count > 0 else { return finish() }
        let piece = content.bytes(sent..<sent + count)
        write(script.framing == .chunked ? Self.chunk(piece) : piece)
        sent += count
        // With its last byte a body may be complete, so nothing is left to wait for.
        if sent == script.sentCount, script.pause == 0 || script.ending == .complete {
            return finish()
        }
        start(after: script.pause)
    }

    private static func chunk(_ piece: [UInt8]) -> [UInt8] {
        Array("\(String(piece.count, radix: 16))\r\n".utf8) + piece + [0x0D, 0x0A]
    }

    private func finish() {
        isOver = true
        switch script.ending {
        case .complete:
            if script.framing == .chunked {
                let lines = script.trailers.map { "\($0.name): \($0.value)\r\n" }.joined()
                write(Array("0\r\n\(lines)\r\n".utf8))
            }
            isComplete = true
            if script.framing == .raw || script.framing == .untilClose {
                stream.stream.finishWriting()
            }
        case .stalls: break
        case .ends: stream.stream.finishWriting()
        case .resets: stream.stream.reset()
        case .malformed: write(Array("zz\r\n".utf8))
        }
        ended(script.ending)
    }

    private func write(_ bytes: [UInt8]) { stream.write(bytes) }
}
