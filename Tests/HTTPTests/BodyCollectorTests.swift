import Basics
import Promises
import Testing

@testable import HTTP

/// Collecting a body up to a limit.
@Suite struct BodyCollectorTests {
    private final class Source: BodySource {
        let framing: BodyFraming
        let memoryOwner: (any MemoryOwner)?
        var sink: (any BodySink)?
        var isCancelled = false

        init(_ framing: BodyFraming, memoryOwner: (any MemoryOwner)? = nil) {
            self.framing = framing
            self.memoryOwner = memoryOwner
        }

        func startDelivery(to sink: any BodySink) { self.sink = sink }
        func pause() {}
        func resume() {}
        func cancel() { isCancelled = true }

        func deliver(_ text: String) { sink?.bodyReceived(Bytes(text).span) }
    }

    private struct Broken: Error {}

    private let context = ManualContext()

    /// The result of collecting at most 10 bytes.
    private func outcome(_ body: Body, _ deliver: () -> Void = {}) -> String {
        var outcome = "pending"
        body.collect(upTo: 10, on: LocalContext(on: context)).whenSettled { result in
            switch result {
            case .success(let bytes): outcome = "\"\(String(bytes))\""
            case .failure(let error): outcome = "\(type(of: error))"
            }
        }
        deliver()
        context.drain()
        return outcome
    }

    @Test func returnsACompleteBodyAtOnce() {
        #expect(outcome(.empty) == "\"\"")
        #expect(outcome(.bytes(Bytes("0123456789"))) == "\"0123456789\"")
        #expect(outcome(.bytes(Bytes("0123456789a"))) == "BodyTooLarge")
        #expect(outcome(.described(length: 100)) == "\"\"")
    }

    @Test func storesTheBodyUntilItsEnd() {
        let source = Source(.chunked)
        let pending = outcome(.stream(source)) { source.deliver("hello") }
        #expect(pending == "pending")
        let whole = Source(.chunked)
        let result = outcome(.stream(whole)) {
            whole.deliver("hello")
            whole.deliver("world")
            whole.sink?.bodyEnded(trailers: Fields())
        }
        #expect(result == "\"helloworld\"" && !whole.isCancelled)
    }

    @Test func doesNotReadABodyOfTooLargeAStatedLength() {
        let source = Source(.length(11))
        #expect(outcome(.stream(source)) == "BodyTooLarge")
        #expect(source.sink == nil && source.isCancelled)
    }

    @Test func cancelsABodyThatGrowsTooLarge() {
        let source = Source(.chunked)
        let result = outcome(.stream(source)) {
            source.deliver("0123456789")
            #expect(!source.isCancelled)
            source.deliver("a")
        }
        #expect(result == "BodyTooLarge" && source.isCancelled)
    }

    @Test func rejectsWhenTheBodyFails() {
        let source = Source(.chunked)
        let result = outcome(.stream(source)) { source.sink?.bodyFailed(Broken()) }
        #expect(result == "Broken")
    }

    @Test func reservesItsBytesInTheBudgetOfTheExchange() {
        let budget = ByteBudget(limit: 7)
        let entropy = Entropy(seed: 1)
        let exchange = Exchange(
            ExchangeStart(
                id: RequestID(from: entropy), trace: TraceContext(from: entropy),
                local: LocalContext(on: context), began: Instant(nanoseconds: 0), budget: budget))
        let source = Source(.chunked, memoryOwner: exchange)
        let result = outcome(.stream(source)) {
            source.deliver("hello")
            #expect(budget.bytesHeld == 5 && !source.isCancelled)
            source.deliver("abc")
        }
        #expect(result == "BufferedBytesExceeded" && source.isCancelled)
        exchange.end()
        #expect(budget.bytesHeld == 0)
    }
}
