import Basics
import HTTP

/// A body that the test delivers, and that records the calls of its reader.
final class ScriptedBody: BodySource {
    let framing: BodyFraming
    private var sink: (any BodySink)?
    private(set) var isPaused = false
    private(set) var isCancelled = false
    private(set) var pauses = 0

    init(_ framing: BodyFraming) {
        self.framing = framing
    }

    var hasReader: Bool { sink != nil }

    func startDelivery(to sink: any BodySink) { self.sink = sink }

    func pause() {
        isPaused = true
        pauses += 1
    }

    func resume() { isPaused = false }

    func cancel() {
        isCancelled = true
        sink = nil
    }

    func deliver(_ text: String) {
        let bytes = Array(text.utf8)
        sink?.bodyReceived(bytes.span)
    }

    func end() {
        let reader = sink
        sink = nil
        reader?.bodyEnded(trailers: Fields())
    }

    func fail() {
        let reader = sink
        sink = nil
        reader?.bodyFailed(Truncated())
    }

    struct Truncated: Error {}
}

/// A connection that has switched to another protocol, under the control of a test.
final class ScriptedTunnel: Tunnel {
    /// What arrives on it.
    let body = ScriptedBody(.untilClose)
    /// What is sent to it.
    let received = RecordingSink()

    var framing: BodyFraming { .untilClose }
    var protocolName: FieldValue { "test" }
    var isCancelled: Bool { body.isCancelled }

    func startDelivery(to sink: any BodySink) { body.startDelivery(to: sink) }
    func pause() { body.pause() }
    func resume() { body.resume() }
    func cancel() { body.cancel() }
    func send(from source: any BodySource) { source.startDelivery(to: received) }
}

/// Records what a body delivers.
final class RecordingSink: BodySink {
    private(set) var text = ""
    private(set) var hasEnded = false
    private(set) var trailers = Fields()
    private(set) var error: (any Error)?
    /// Called after each piece.
    var onPiece: () -> Void = {}

    func bodyReceived(_ piece: Span<UInt8>) {
        text += String(copying: piece)
        onPiece()
    }

    func bodyEnded(trailers: Fields) {
        hasEnded = true
        self.trailers = trailers
    }

    func bodyFailed(_ error: any Error) { self.error = error }
}
