import Basics
import Reactor
import SimReactor

/// Receives a body as its script demands, with pauses, and compares it with what the other side sends.
final class BodyReader {
    private let script: ReadingScript
    private let content: StreamContent
    private let stream: SimStream
    private let loop: SimLoop
    private(set) var received = 0
    /// Position of the first byte that is not the one which was sent.
    private(set) var difference: Int?
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
        difference = difference ?? content.firstDifference(bytes, from: received)
        received += bytes.count
        pauseIfScripted()
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
