import Basics
import HTTP
import Reactor
import SimReactor
import TestSupport
import Testing

@testable import HTTPClient

/// Backends are as hostile as clients. What their bytes mean is tested with the state machine; here,
/// that the connection is closed and the pool goes on as if nothing had been.
@Suite struct HostileBackendTests {
    /// The text is sent to the first request, which ends with `outcome`; the next one is answered.
    private func meet(
        _ text: String, _ outcome: String, then end: ((ScriptedPeer) -> Void)? = nil,
        split: ReadSplit = .whole, answerMax: Int = 1000
    ) throws {
        let harness = try PoolHarness { asked in
            guard asked.connection == 1 else { return asked.answer("honest") }
            asked.peer.send(text)
            end?(asked.peer)
        }
        harness.network.settings.split = split
        #expect(harness.outcome(answerMax: answerMax) == outcome)
        harness.pass(.milliseconds(1))
        #expect(harness.counts == "0 in flight, 0 idle, 0 open")
        #expect(harness.outcome(answerMax: answerMax) == "200 honest")
        harness.expectQuiet()
    }

    @Test(arguments: Answer.bad)
    func malformedResponseEndsItsConnection(_ answer: Answer) throws {
        try meet(answer.text, "protocolError")
        try meet(answer.text, "protocolError", split: .sizes([1]))
    }

    @Test(arguments: ["HTTP/1.1 200", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi"])
    func truncatedResponseIsIncomplete(_ text: String) throws {
        try meet(text, "responseIncomplete") { $0.stream.close() }
        try meet(text, "responseIncomplete") { peer in (peer.stream as? SimStream)?.reset() }
    }

    @Test func halfCloseWithoutAResponseTerminatesTheCall() throws {
        try meet("", "connectionTerminated") { $0.stream.finishWriting() }
    }

    @Test func chunksWithoutALastChunkAreIncomplete() throws {
        let text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n"
        try meet(text, "responseIncomplete") { $0.stream.close() }
        try meet(text + "0\r\n", "responseIncomplete") { $0.stream.close() }
    }

    @Test func bodyUntilCloseIsCompleteOnlyAfterAnOrderlyEnd() throws {
        let text = "HTTP/1.1 200 OK\r\n\r\nhi"
        try meet(text, "200 hi") { $0.stream.close() }
        try meet(text, "200 hi", then: { $0.stream.close() }, split: .sizes([1]))
        try meet(text, "responseIncomplete") { peer in (peer.stream as? SimStream)?.reset() }
    }

    @Test(arguments: ["Content-Length: 11\r\n\r\n", "\r\n"])
    func doesNotReadATooLargeBodyToItsEnd(_ fields: String) throws {
        try meet(
            "HTTP/1.1 200 OK\r\n\(fields)hello world", "responseBodySize", split: .sizes([1]),
            answerMax: 10)
    }

    @Test func rejectsEndlessInterimResponses() throws {
        let interim = "HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n"
        try meet(String(repeating: interim, count: 3000), "protocolError")
    }

    @Test func rejectsAnEndlessHead() throws {
        let field = "X: " + String(repeating: "y", count: 500) + "\r\n"
        try meet("HTTP/1.1 200 OK\r\n" + String(repeating: field, count: 90), "protocolError")
    }

    @Test(arguments: Answer.good)
    func readsAValidResponseByteByByte(_ answer: Answer) throws {
        let harness = try PoolHarness { asked in asked.peer.send(answer.text) }
        harness.network.settings.split = .sizes([1])
        for _ in 0..<2 {
            #expect(answer.outcome.hasPrefix(harness.outcome(answer.method)))
        }
        #expect(harness.backend.connections == (answer.outcome.hasSuffix("keep") ? 1 : 2))
        harness.expectQuiet()
    }

    @Test func responseBeforeTheEndOfTheRequestIsTheLastOfItsConnection() throws {
        let harness = try PoolHarness()
        harness.network.settings.windowBytes = 1024
        harness.backend.onAccept = { peer in
            peer.stream.pauseReading()
            peer.send("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
        }
        let body = String(repeating: "x", count: 100_000)
        #expect(harness.outcome(.post, "/", body: body) == "413 ")
        #expect(harness.counts == "0 in flight, 0 idle, 0 open")
        harness.expectQuiet()
    }
}
