import Basics
import HTTP
import Promises
import Reactor
import SimReactor
import Testing

@testable import HTTPServer

/// The exchange, independent of its carrier.
@Suite struct ExchangeRunnerTests {
    /// Replaces a connection, or a stream of HTTP/2.
    private final class ScriptedCarrier: ExchangeCarrier {
        private(set) var responses = 0
        private(set) var closingResponses = 0
        private(set) var demands: [BodyDemand] = []

        func responseReady(closesConnection: Bool) {
            responses += 1
            if closesConnection { closingResponses += 1 }
        }

        func bodyDemandChanged(to demand: BodyDemand) { demands.append(demand) }

        func sendInterim(_ status: Status, _ fields: Fields) {}
        func clientWait(now: Instant) -> ClientWait? { nil }
        func endWaiting() {}
        var now: Instant { Instant(nanoseconds: 0) }
    }

    private let carrier = ScriptedCarrier()

    private func runner(
        _ harness: ServerHarness, _ body: Bytes? = Bytes(), framing: String = ""
    ) throws -> ExchangeRunner {
        var reader = RequestReader(limits: Limits())
        let text = Bytes("POST /x HTTP/1.1\r\nHost: a\r\n\(framing)\r\n")
        var position = 0
        guard case .head(let head) = try reader.read(text.span, from: &position) else {
            throw NoHead()
        }
        let exchange = harness.server.context.makeExchange(
            for: head, from: PeerAddress(text: nil, bits: .unknown))
        return ExchangeRunner(head, body, exchange, carrier: carrier, of: harness.server.context)
    }

    private struct NoHead: Error {}

    @Test func holdsPermitAndBytesUntilTheEndOfTheResponse() throws {
        let harness = try ServerHarness(service: ServerHarness.deferred)
        let runner = try runner(harness, Bytes("hello"))
        harness.onServer { runner.runService() }
        #expect(harness.server.requestsInFlight == 1 && harness.server.bufferedBytes > 5)
        harness.respond()
        #expect(carrier.responses == 1 && runner.response?.status == .ok)
        #expect(harness.server.requestsInFlight == 1 && harness.log == [])
        for _ in 0..<2 { harness.onServer { runner.endExchange(bodyBytes: 2) } }
        #expect(harness.server.requestsInFlight == 0 && harness.server.bufferedBytes == 0)
        #expect(harness.log == ["POST /x 200 2"])
    }

    @Test func cancelsItsServiceOnce() throws {
        let harness = try ServerHarness(service: ServerHarness.deferred)
        let runner = try runner(harness)
        harness.onServer { runner.runService() }
        for _ in 0..<2 { harness.onServer { runner.cancel(status: 499) } }
        harness.respond()
        #expect(harness.cancelled == [0] && harness.log == ["POST /x 499 0"])
        #expect(carrier.responses == 0 && runner.response == nil)
        #expect(harness.server.requestsInFlight == 0 && harness.server.bufferedBytes == 0)
    }

    /// Memory that the call needs may be short, which closes the client's connection.
    @Test func cancelsServiceWhoseCallEndsTheExchange() throws {
        var runner: ExchangeRunner?
        let harness = try ServerHarness { harness, request, exchange in
            let promise = ServerHarness.deferred(harness, request, exchange)
            runner?.cancel(status: 499)
            return promise
        }
        runner = try self.runner(harness)
        harness.onServer { runner?.runService() }
        #expect(harness.cancelled == [0] && harness.log == ["POST /x 499 0"])
        #expect(harness.server.requestsInFlight == 0 && harness.server.bufferedBytes == 0)
    }

    @Test func isRejectedWithoutAPermit() throws {
        var settings = ServerSettings()
        settings.requestsInFlight = 1
        let harness = try ServerHarness(settings, service: ServerHarness.deferred)
        let (first, second) = (try runner(harness), try runner(harness))
        harness.onServer {
            first.runService()
            second.runService()
        }
        #expect(first.response == nil && second.response?.status == .serviceUnavailable)
        #expect(second.response?.fields[.retryAfter] == "1")
        #expect(harness.requests.count == 1 && harness.server.requestsInFlight == 1)
    }

    @Test func isRejectedWhenTheByteBudgetIsExhausted() throws {
        var settings = ServerSettings()
        settings.bufferedBytes = 100
        let harness = try ServerHarness(settings, service: ServerHarness.deferred)
        let small = try runner(harness, Bytes("hello"))
        let large = try runner(harness, Bytes([UInt8](repeating: 97, count: 200)))
        harness.onServer {
            small.runService()
            large.runService()
        }
        #expect(small.response == nil && large.response?.status == .serviceUnavailable)
    }

    @Test func takesItsPermitWithTheLastByteOfItsBody() throws {
        var settings = ServerSettings()
        settings.requestsInFlight = 1
        let harness = try ServerHarness(settings) { harness, request, exchange in
            request.body.collect(upTo: 100, on: exchange.local)
                .then { _ in ServerHarness.deferred(harness, request, exchange) }
        }
        let framing = "Content-Length: 5\r\n"
        let first = try runner(harness, nil, framing: framing)
        let second = try runner(harness, nil, framing: framing)
        harness.onServer {
            first.runService()
            second.runService()
        }
        #expect(harness.server.requestsInFlight == 0)
        #expect(carrier.demands == [.started(isTimed: false), .started(isTimed: false)])
        harness.onServer {
            first.requestBody?.deliver(Bytes("hello").span)
            first.requestBodyEnded()
        }
        #expect(harness.server.requestsInFlight == 1 && carrier.responses == 0)
        harness.onServer {
            second.requestBody?.deliver(Bytes("hello").span)
            second.requestBodyEnded()
        }
        #expect(second.response?.status == .serviceUnavailable && first.response == nil)
    }

    /// Behind the head of its response a request counts as a stream only.
    @Test func malformedBodyBehindTheHeadOfTheResponseCountsNoRequest() throws {
        var (reading, failures): (LocalObservation?, Int) = (nil, 0)
        let harness = try ServerHarness { _, request, exchange in
            reading = request.body.collect(upTo: 100, on: exchange.local).observe { result in
                if (try? result.get()) == nil { failures += 1 }
            }
            let response = Response(status: .ok, body: .stream(ScriptedBody(.chunked)))
            return exchange.local.value(response)
        }
        let runner = try runner(harness, nil, framing: "Content-Length: 5\r\n")
        harness.onServer { runner.runService() }
        #expect(carrier.responses == 1)
        harness.onServer { runner.responseHeadSent() }
        #expect(harness.server.requestsInFlight == 0 && harness.server.streams == 1)
        harness.onServer { runner.requestBodyFailed(.chunkSize) }
        #expect(reading != nil && failures == 1)
        #expect(harness.server.requestsInFlight == 0 && harness.server.streams == 1)
        harness.onServer { runner.endExchange(bodyBytes: 0) }
        #expect(harness.server.requestsInFlight == 0 && harness.server.streams == 0)
    }

    @Test func bodyBeyondTheByteBudgetEndsTheConnection() throws {
        var settings = ServerSettings()
        settings.bufferedBytes = 1000
        let harness = try ServerHarness(settings) { _, request, exchange in
            request.body.collect(upTo: 100_000, on: exchange.local)
                .map { Response(status: .ok, body: $0) }
        }
        let runner = try runner(harness, nil, framing: "Content-Length: 5000\r\n")
        harness.onServer { runner.runService() }
        harness.onServer {
            runner.requestBody?.deliver(Bytes([UInt8](repeating: 97, count: 500)).span)
        }
        #expect(carrier.responses == 0 && harness.server.bufferedBytes > 500)
        harness.onServer {
            runner.requestBody?.deliver(Bytes([UInt8](repeating: 97, count: 2000)).span)
        }
        #expect(carrier.demands == [.started(isTimed: false), .cancelled])
        #expect(runner.response?.status == .serviceUnavailable && carrier.closingResponses == 1)
        harness.onServer { runner.endExchange(bodyBytes: 0) }
        #expect(harness.server.bufferedBytes == 0)
    }
}
