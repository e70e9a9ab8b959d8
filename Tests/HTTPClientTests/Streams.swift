import Basics
import HTTP
import Promises

@testable import HTTPClient

/// A sink that records its calls; a test may add an action for each piece.
final class RecordingSink: BodySink {
    private(set) var received: [UInt8] = []
    private(set) var pieces = 0
    private(set) var trailers = Fields()
    /// `ended`, or the kind of the failure.
    private(set) var outcome: String?
    var onPiece: (RecordingSink) -> Void = { _ in }

    var text: String { String(decoding: received, as: UTF8.self) }

    func bodyReceived(_ piece: Span<UInt8>) {
        precondition(outcome == nil && !piece.isEmpty)
        received.append(copying: piece)
        pieces += 1
        onPiece(self)
    }

    func bodyEnded(trailers: Fields) {
        precondition(outcome == nil)
        outcome = "ended"
        self.trailers = trailers
    }

    func bodyFailed(_ error: any Error) {
        precondition(outcome == nil)
        outcome = (error as? ClientFailure).map { "\($0.kind)" } ?? "\(type(of: error))"
    }
}

/// A call that adds no field, and drops interim responses.
final class PlainStreamedCall: StreamedCall {
    var expectsContinue: Bool { false }
    var acceptsTrailers: Bool { false }
    var upgrade: FieldValue? { nil }

    func receiveInterim(_ head: ResponseHead) {}
}

extension Pool {
    /// Promises the head of a response whose body may be a stream.
    func sendStreaming(_ request: ClientRequest) -> LocalPromise<ClientResponse> {
        sendStreaming(request, PlainStreamedCall())
    }
}

/// A source whose body the test delivers.
final class ScriptedSource: BodySource {
    let framing: BodyFraming
    private(set) var sink: (any BodySink)?
    private(set) var isPaused = false
    private(set) var isCancelled = false

    init(_ framing: BodyFraming) {
        self.framing = framing
    }

    func startDelivery(to sink: any BodySink) {
        precondition(self.sink == nil, "started twice")
        self.sink = sink
    }

    func pause() { isPaused = true }

    func resume() { isPaused = false }

    func cancel() {
        isCancelled = true
        sink = nil
    }

    func deliver(_ text: String) { sink?.bodyReceived(Array(text.utf8).span) }

    func end(_ trailers: Fields = Fields()) { sink.take()?.bodyEnded(trailers: trailers) }

    func fail(_ error: any Error) { sink.take()?.bodyFailed(error) }
}
