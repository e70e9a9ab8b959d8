import Basics
import HTTP
import Testing

@testable import Gateway

/// The pipe of a relayed body, without its transfer.
@Suite struct ProxyPipeTests {
    private final class Source: BodySource {
        var sink: (any BodySink)?
        var isCancelled = false
        var framing: BodyFraming { .chunked }

        func startDelivery(to sink: any BodySink) { self.sink = sink }
        func pause() {}
        func resume() {}
        func cancel() { isCancelled = true }
    }

    private final class Sink: BodySink {
        var log: [String] = []

        func bodyReceived(_ piece: Span<UInt8>) { log.append("\(piece.count) bytes") }
        func bodyEnded(trailers: Fields) { log.append("ended") }
        func bodyFailed(_ error: any Error) { log.append("\(type(of: error))") }
    }

    /// It would seem to be complete, without what came before.
    @Test(arguments: [true, false])
    func bodyBehindTheEndOfItsTransferFails(_ hasPiece: Bool) {
        let (source, sink) = (Source(), Sink())
        let pipe = ProxyPipe(source, .request)
        pipe.startDelivery(to: sink)
        if hasPiece { source.sink?.bodyReceived([1, 2].span) }
        source.sink?.bodyEnded(trailers: Fields())
        #expect(sink.log == ["TransferEnded"] && source.isCancelled == hasPiece)
    }

    /// Cancelled before it was read, a body can be delivered to another sink.
    @Test func heldBodyIsDeliveredToTheNextSink() {
        let (source, sinks) = (Source(), [Sink(), Sink()])
        let pipe = ProxyPipe(source, .request, isHeld: true)
        pipe.startDelivery(to: sinks[0])
        pipe.cancel()
        pipe.startDelivery(to: sinks[1])
        #expect(source.sink == nil && !source.isCancelled)
        pipe.release()
        source.sink?.bodyFailed(TransferEnded())
        #expect(sinks[0].log.isEmpty && sinks[1].log == ["TransferEnded"])
    }
}
