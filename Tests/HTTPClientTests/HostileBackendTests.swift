import Basics
import HTTP
import Reactor
import SimReactor
import TestSupport
import Testing

@testable import HTTPClient

/// Malformed and truncated responses. The state machine's tests cover their interpretation; these
/// tests cover that the connection is closed and the pool still works.
@Suite struct HostileBackendTests {
    /// Sends the text to the first request, which ends with `outcome`, and a regular response to
    /// the next one.
    private func expectOutcome(
        _ text: String, _ outcome: String, then end: ((ScriptedPeer) -> Void)? = nil,
        split: ReadSplit = .whole, responseBytesMax: Int = 1000
    ) throws {
        let harness = try PoolHarness { exchange in
            guard exchange.connection == 1 else { return exchange.respond("honest") }
            exchange.peer.send(text)
            end?(exchange.peer)
        }
        harness.network.settings.split = split
        #expect(harness.outcome(responseBytesMax: responseBytesMax) == outcome)
        harness.advance(by: .milliseconds(1))
        #expect(harness.counts == "0 in flight, 0 idle, 0 open")
        #expect(harness.outcome(responseBytesMax: responseBytesMax) == "200 honest")
        harness.expectQuiet()
    }

    @Test(arguments: ResponseFixture.malformed)
    func malformedResponseEndsItsConnection(_ response: ResponseFixture) throws {
        try expectOutcome(response.text, "protocolError")
        try expectOutcome(response.text, "protocolError", split: .sizes([1]))
    }

    @Test(arguments: ["HTTP/1.1 200", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi"])
    func truncatedResponseIsIncomplete(_ text: String) throws {
        try expectOutcome(text, "responseIncomplete") { $0.stream.close() }
        try expectOutcome(text, "responseIncomplete") { peer in (peer.stream as? SimStream)?.reset()
        }
    }

    @Test func halfCloseWithoutAResponseTerminatesTheCall() throws {
        try expectOutcome("", "connectionTerminated") { $0.stream.finishWriting() }
    }

    @Test func chunksWithoutALastChunkAreIncomplete() throws {
        let text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n"
        try expectOutcome(text, "responseIncomplete") { $0.stream.close() }
        try expectOutcome(text + "0\r\n", "responseIncomplete") { $0.stream.close() }
    }

    @Test func bodyUntilCloseIsCompleteOnlyAfterAnOrderlyEnd() throws {
        let text = "HTTP/1.1 200 OK\r\n\r\nhi"
        try expectOutcome(text, "200 hi") { $0.stream.close() }
        try expectOutcome(text, "200 hi", then: { $0.stream.close() }, split: .sizes([1]))
        try expectOutcome(text, "responseIncomplete") { peer in (peer.stream as? SimStream)?.reset()
        }
    }

    @Test(arguments: ["Content-Length: 11\r\n\r\n", "\r\n"])
    func doesNotReadATooLargeBodyToItsEnd(_ fields: String) throws {
        try expectOutcome(
            "HTTP/1.1 200 OK\r\n\(fields)hello world", "responseBodySize", split: .sizes([1]),
            responseBytesMax: 10)
    }

    @Test func rejectsEndlessInterimResponses() throws {
        let interim = "HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n"
        try expectOutcome(String(repeating: interim, count: 3000), "protocolError")
    }

    @Test func rejectsAnEndlessHead() throws {
        let field = "X: " + String(repeating: "y", count: 500) + "\r\n"
        try expectOutcome(
            "HTTP/1.1 200 OK\r\n" + String(repeating: field, count: 90), "responseHeaderSize")
    }

    @Test(arguments: ResponseFixture.valid)
    func readsAValidResponseByteByByte(_ response: ResponseFixture) throws {
        let harness = try PoolHarness { exchange in exchange.peer.send(response.text) }
        harness.network.settings.split = .sizes([1])
        for _ in 0..<2 {
            #expect(response.outcome.hasPrefix(harness.outcome(response.method)))
        }
        #expect(harness.backend.connections == (response.outcome.hasSuffix("keep") ? 1 : 2))
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
