import Basics
import HTTP
import Promises
import Reactor
import SimReactor
import Testing

@testable import HTTPServer

/// The life of an exchange, whatever carries it.
@Suite struct ExchangeRunnerTests {
    /// Stands for a connection, or for a stream of HTTP/2.
    private final class ScriptedCarrier: ExchangeCarrier {
        private(set) var responses = 0
        private(set) var lastOnes = 0
        private(set) var demands: [BodyDemand] = []

        func responseReady(isLast: Bool) {
            responses += 1
            if isLast { lastOnes += 1 }
        }

        func bodyDemandChanged(to demand: BodyDemand) { demands.append(demand) }
    }

    private let carrier = ScriptedCarrier()

    private func runner(
        _ stage: Stage, _ body: Bytes? = Bytes(), framing: String = ""
    ) throws -> ExchangeRunner {
        var reader = RequestReader(limits: Limits())
        let text = Bytes("POST /x HTTP/1.1\r\nHost: a\r\n\(framing)\r\n")
        var position = 0
        guard case .head(let head) = try reader.read(text.span, from: &position) else {
            throw NoHead()
        }
        return ExchangeRunner(head, body, from: nil, carrier: carrier, of: stage.server)
    }

    private struct NoHead: Error {}

    @Test func holdsItsPermitAndBytesUntilTheResponseEnds() throws {
        let stage = try Stage(service: Stage.held)
        let runner = try runner(stage, Bytes("hello"))
        stage.onServer { runner.start() }
        #expect(stage.server.requestsInFlight == 1 && stage.server.bufferedBytes > 5)
        stage.answer()
        #expect(carrier.responses == 1 && runner.response?.status == .ok)
        #expect(stage.server.requestsInFlight == 1 && stage.log == [])
        for _ in 0..<2 { stage.onServer { runner.end(bodyBytes: 2) } }
        #expect(stage.server.requestsInFlight == 0 && stage.server.bufferedBytes == 0)
        #expect(stage.log == ["POST /x 200 2"])
    }

    @Test func cancelsItsServiceOnce() throws {
        let stage = try Stage(service: Stage.held)
        let runner = try runner(stage)
        stage.onServer { runner.start() }
        for _ in 0..<2 { stage.onServer { runner.cancel(status: 499) } }
        stage.answer()
        #expect(stage.cancelled == [0] && stage.log == ["POST /x 499 0"])
        #expect(carrier.responses == 0 && runner.response == nil)
        #expect(stage.server.requestsInFlight == 0 && stage.server.bufferedBytes == 0)
    }

    @Test func isRejectedWithoutAPermit() throws {
        var settings = ServerSettings()
        settings.requestsInFlight = 1
        let stage = try Stage(settings, service: Stage.held)
        let (first, second) = (try runner(stage), try runner(stage))
        stage.onServer {
            first.start()
            second.start()
        }
        #expect(first.response == nil && second.response?.status == .serviceUnavailable)
        #expect(second.response?.fields[.retryAfter] == "1")
        #expect(stage.asked.count == 1 && stage.server.requestsInFlight == 1)
    }

    @Test func isRejectedWithoutRoom() throws {
        var settings = ServerSettings()
        settings.bufferedBytes = 100
        let stage = try Stage(settings, service: Stage.held)
        let small = try runner(stage, Bytes("hello"))
        let large = try runner(stage, Bytes([UInt8](repeating: 97, count: 200)))
        stage.onServer {
            small.start()
            large.start()
        }
        #expect(small.response == nil && large.response?.status == .serviceUnavailable)
    }

    @Test func takesItsPermitWithTheLastByteOfItsBody() throws {
        var settings = ServerSettings()
        settings.requestsInFlight = 1
        let stage = try Stage(settings) { stage, request, exchange in
            request.body.collect(upTo: 100, on: exchange.core)
                .then { _ in Stage.held(stage, request, exchange) }
        }
        let framing = "Content-Length: 5\r\n"
        let first = try runner(stage, nil, framing: framing)
        let second = try runner(stage, nil, framing: framing)
        stage.onServer {
            first.start()
            second.start()
        }
        #expect(stage.server.requestsInFlight == 0 && carrier.demands == [.wanted, .wanted])
        stage.onServer {
            first.requestBody?.deliver(Bytes("hello").span)
            first.requestBodyEnded()
        }
        #expect(stage.server.requestsInFlight == 1 && carrier.responses == 0)
        stage.onServer {
            second.requestBody?.deliver(Bytes("hello").span)
            second.requestBodyEnded()
        }
        #expect(second.response?.status == .serviceUnavailable && first.response == nil)
    }

    @Test func aBodyWithoutRoomIsTheLastOfItsConnection() throws {
        var settings = ServerSettings()
        settings.bufferedBytes = 1000
        let stage = try Stage(settings) { _, request, exchange in
            request.body.collect(upTo: 100_000, on: exchange.core)
                .map { Response(status: .ok, body: $0) }
        }
        let runner = try runner(stage, nil, framing: "Content-Length: 5000\r\n")
        stage.onServer { runner.start() }
        stage.onServer {
            runner.requestBody?.deliver(Bytes([UInt8](repeating: 97, count: 500)).span)
        }
        #expect(carrier.responses == 0 && stage.server.bufferedBytes > 500)
        stage.onServer {
            runner.requestBody?.deliver(Bytes([UInt8](repeating: 97, count: 2000)).span)
        }
        #expect(carrier.demands == [.wanted, .refused])
        #expect(runner.response?.status == .serviceUnavailable && carrier.lastOnes == 1)
        stage.onServer { runner.end(bodyBytes: 0) }
        #expect(stage.server.bufferedBytes == 0)
    }
}
