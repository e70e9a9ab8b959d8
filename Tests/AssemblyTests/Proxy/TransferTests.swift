import Assembly
import HTTP
import Reactor
import SimReactor
import TestSupport
import Testing
import WorkerSupport

/// Bodies pass through in both directions, while they arrive.
@Suite(.watched) struct TransferTests {
    @Test func responseIsPassedOnWhileItArrives() throws {
        let harness = try ProxyHarness()
        let client = try harness.send(get("/x/a?q=1&&r"))
        #expect(harness.received.hasPrefix("GET /x/a?q=1&&r HTTP/1.1\r\nHost: 127.0.0.1:7001\r\n"))
        try harness.respond("HTTP/1.1 200 OK\r\nContent-Length: 10\r\nX-A: 1\r\n\r\nhello")
        #expect(client.text.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(
            client.text.contains("X-A: 1\r\n") && client.text.contains("Content-Length: 10\r\n"))
        #expect(bodyPart(client.text) == "hello")
        try harness.respond("world")
        #expect(bodyPart(client.text) == "helloworld")
        #expect(harness.logged("status") == ["200"] && harness.logged("outcome") == ["ok"])
        #expect(harness.logged("bytes_out") == ["10"] && harness.logged("end") == [])
        harness.expectQuiet()
    }

    /// Its last byte arrives with its head, so that it does not need the only stream.
    @Test func completeResponseIsNoStream() throws {
        let harness = try ProxyHarness(top: "limits: { streams: 1 }")
        let date = "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
        let head = "HTTP/1.1 200 OK\r\n\(date)Content-Length: 4\r\n\r\n"
        let streamed = try harness.send(get("/x/a"))
        try harness.respond(head + "ab")
        let complete = try harness.send(get("/x/b"))
        try harness.respond(head + "abcd")
        #expect(complete.text.hasPrefix("HTTP/1.1 200 OK\r\n") && complete.text.contains(date))
        #expect(complete.text.split(separator: "\r\n").filter { $0.hasPrefix("Date:") }.count == 1)
        #expect(bodyPart(complete.text) == "abcd" && !complete.hasEnded)
        let refused = try harness.send(get("/x/c"))
        try harness.respond(head + "ab")
        #expect(refused.text.hasPrefix("HTTP/1.1 503 "))
        harness.connections[0].send("cd")
        harness.pass(1)
        #expect(bodyPart(streamed.text) == "abcd")
        #expect(harness.logged("status") == ["200", "503", "200"])
        #expect(harness.logged("bytes_out").first == "4" && harness.logged("end") == [])
        harness.expectQuiet()
    }

    @Test(arguments: ["chunked", "close"]) func bodyOfUnknownLengthIsSentInChunks(
        _ framing: String
    ) throws {
        let harness = try ProxyHarness()
        let client = try harness.send(get("/x/a"))
        if framing == "chunked" {
            try harness.respond(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
            #expect(bodyPart(client.text) == "5\r\nhello\r\n")
            try harness.respond("0\r\n\r\n")
        } else {
            try harness.respond("HTTP/1.1 200 OK\r\n\r\nhello")
            #expect(bodyPart(client.text) == "5\r\nhello\r\n")
            try harness.backend().stream.close()
            harness.pass(1)
        }
        #expect(bodyPart(client.text) == "5\r\nhello\r\n0\r\n\r\n" && !client.hasEnded)
        harness.expectQuiet()
    }

    @Test func requestBodyIsPassedOnWhileItArrives() throws {
        let harness = try ProxyHarness()
        let client = try harness.send(request("POST", "/x/a", ["Content-Length: 10"]) + "hello")
        #expect(harness.received.contains("Content-Length: 10\r\n"))
        #expect(bodyPart(harness.received) == "hello")
        client.send("world")
        harness.pass(1)
        #expect(bodyPart(harness.received) == "helloworld")
        try harness.respond("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n")
        #expect(client.text.hasPrefix("HTTP/1.1 201 Created\r\n"))
        #expect(client.text.contains("Content-Length: 0\r\n"))
        #expect(harness.logged("bytes_in") == ["10"])
        // Both connections serve the next request.
        client.clearReceived()
        try harness.clearReceived()
        client.send(get("/x/b"))
        harness.pass(1)
        #expect(harness.received.hasPrefix("GET /x/b ") && harness.connections.count == 1)
        harness.expectQuiet()
    }

    @Test func chunkedUploadStaysChunked() throws {
        let harness = try ProxyHarness()
        let client = try harness.send(
            request("PUT", "/x/a", ["Transfer-Encoding: chunked"]) + "5\r\nhello\r\n")
        #expect(harness.received.contains("Transfer-Encoding: chunked\r\n"))
        #expect(bodyPart(harness.received) == "5\r\nhello\r\n")
        client.send("0\r\n\r\n")
        harness.pass(1)
        #expect(bodyPart(harness.received) == "5\r\nhello\r\n0\r\n\r\n")
        try harness.respond("HTTP/1.1 204 No Content\r\n\r\n")
        #expect(client.text.hasPrefix("HTTP/1.1 204 No Content\r\n"))
        #expect(!client.text.contains("Content-Length"))
        harness.expectQuiet()
    }

    /// A proxied request stores at most 64 KiB and one read for each direction.
    @Test func slowBackendPausesTheClient() throws {
        let harness = try ProxyHarness()
        harness.gateway.network.settings.windowBytes = 10_000
        let size = 400_000
        let client = try harness.send(request("PUT", "/x/a", ["Content-Length: \(size)"]))
        try harness.backend().stream.pauseReading()
        client.send(String(repeating: "x", count: size))
        harness.pass(50)
        let held = harness.gateway.instance?.snapshot.bufferedBytes ?? 0
        #expect(held < 100_000)
        try harness.backend().stream.resumeReading()
        harness.pass(200)
        #expect(bodyPart(harness.received).utf8.count == size)
        try harness.respond("HTTP/1.1 204 No Content\r\n\r\n")
        #expect(client.text.hasPrefix("HTTP/1.1 204"))
        harness.expectQuiet()
    }

    /// The back-pressure of a backend that does not read must not hide that the client leaves.
    @Test(arguments: [false, true], ["Content-Length: 400000", "Transfer-Encoding: chunked"])
    func clientThatLeavesDuringAPauseEndsTheCall(_ isReset: Bool, _ framing: String) throws {
        let harness = try ProxyHarness()
        harness.gateway.network.settings.windowBytes = 10_000
        let client = try harness.send(request("PUT", "/x/a", [framing]))
        try harness.backend().stream.pauseReading()
        let body = String(repeating: "x", count: 200_000)
        client.send(framing.hasPrefix("C") ? body : "30d40\r\n\(body)")
        harness.pass(1_000)
        #expect(harness.logged("status").isEmpty, "the upload waits")
        if isReset { (client.stream as? SimStream)?.reset() } else { client.stream.close() }
        harness.pass(50)
        #expect(harness.logged("status") == ["499"])
        #expect(try harness.gateway.connections() == 0)
        harness.pass(100)
        #expect(harness.gateway.timers == 0)
        try harness.backend().stream.resumeReading()
        harness.pass(1)
        let backend = try harness.backend()
        #expect(backend.hasEnded || !backend.failures.isEmpty)
        harness.expectQuiet()
    }

    /// The pause has begun in this moment.
    @Test func clientThatLeavesAtTheBeginningOfAPauseEndsTheCall() throws {
        let harness = try ProxyHarness()
        harness.gateway.network.settings.windowBytes = 10_000
        let client = try harness.send(request("PUT", "/x/a", ["Content-Length: 400000"]))
        try harness.backend().stream.pauseReading()
        client.send(String(repeating: "x", count: 200_000))
        harness.pass(1)
        client.stream.close()
        harness.pass(50)
        #expect(harness.logged("status") == ["499"])
        try harness.backend().stream.resumeReading()
        harness.pass(1)
        harness.expectQuiet()
    }

    /// A client that has sent its whole request may end its side.
    @Test func clientThatHalfClosesDuringAPauseIsServed() throws {
        let harness = try ProxyHarness()
        harness.gateway.network.settings.windowBytes = 100_000
        let size = 200_000
        let client = try harness.send(request("PUT", "/x/a", ["Content-Length: \(size)"]))
        try harness.backend().stream.pauseReading()
        client.send(String(repeating: "x", count: size))
        client.stream.finishWriting()
        harness.pass(1_000)
        // The gateway checks that it reads, with the beginning of its response.
        #expect(!client.text.isEmpty && "HTTP/1.1 ".hasPrefix(client.text))
        #expect(harness.logged("status").isEmpty)
        try harness.backend().stream.resumeReading()
        harness.pass(50)
        #expect(bodyPart(harness.received).utf8.count == size)
        try harness.respond("HTTP/1.1 204 No Content\r\n\r\n")
        #expect(client.text.hasPrefix("HTTP/1.1 204 No Content\r\n"))
        harness.expectQuiet()
    }

    @Test func slowClientPausesTheBackend() throws {
        let harness = try ProxyHarness()
        harness.gateway.network.settings.windowBytes = 10_000
        let size = 400_000
        let client = try harness.send(get("/x/a"))
        client.stream.pauseReading()
        try harness.respond(
            "HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n"
                + String(repeating: "x", count: size))
        harness.pass(50)
        let held = harness.gateway.instance?.snapshot.bufferedBytes ?? 0
        #expect(held > 0 && held < 140_000)
        client.stream.resumeReading()
        harness.pass(200)
        #expect(bodyPart(client.text).utf8.count == size)
        #expect(harness.logged("bytes_out") == ["\(size)"])
        harness.expectQuiet()
    }

    /// A response that breaks off must not look complete.
    @Test(arguments: ["Content-Length: 10", "Transfer-Encoding: chunked"])
    func truncatedResponseClosesTheConnection(_ framing: String) throws {
        let harness = try ProxyHarness()
        let client = try harness.send(get("/x/a"))
        try harness.respond("HTTP/1.1 200 OK\r\n\(framing)\r\n\r\n5\r\nhel")
        try harness.backend().stream.close()
        harness.pass(1)
        #expect(client.hasEnded || !client.failures.isEmpty)
        #expect(!client.text.hasSuffix("0\r\n\r\n"))
        #expect(harness.logged("outcome") == ["truncated"])
        #expect(harness.logged("end") == ["backend_truncated"])
        harness.expectQuiet()
    }

    enum Departure: CaseIterable { case closes, resets, halfCloses }

    @Test(arguments: Departure.allCases, [false, true])
    func clientThatLeavesClosesTheCall(_ how: Departure, duringBody: Bool) throws {
        let harness = try ProxyHarness()
        let client = try harness.send(get("/x/a"))
        if duringBody { try harness.respond("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello") }
        switch how {
        case .closes: client.stream.close()
        case .resets: (client.stream as? SimStream)?.reset()
        case .halfCloses where duringBody: client.stream.finishWriting()
        // Before the head, a client that half-closed still gets its response.
        case .halfCloses: return harness.expectQuiet()
        }
        harness.pass(50)
        #expect(try harness.backend().hasEnded || !harness.backend().failures.isEmpty)
        #expect(harness.logged("status") == [duringBody ? "200" : "499"])
        #expect(harness.logged("end") == (duringBody ? ["client_disconnected"] : []))
        harness.expectQuiet()
    }

    @Test func clientThatLeavesDuringItsUploadClosesTheCall() throws {
        let harness = try ProxyHarness()
        let client = try harness.send(request("POST", "/x/a", ["Content-Length: 10"]) + "hello")
        client.stream.close()
        harness.pass(50)
        #expect(try harness.backend().hasEnded || !harness.backend().failures.isEmpty)
        #expect(bodyPart(harness.received) == "hello")
        harness.expectQuiet()
    }

    @Test func responseBeforeTheEndOfTheUploadIsPassedOnAtOnce() throws {
        let harness = try ProxyHarness()
        let client = try harness.send(request("POST", "/x/a", ["Content-Length: 10"]) + "hel")
        try harness.respond("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n")
        #expect(bodyPart(client.text) == "2\r\nok\r\n")
        client.send("loworld")
        harness.pass(1)
        #expect(bodyPart(harness.received) == "helloworld")
        try harness.respond("0\r\n\r\n")
        #expect(bodyPart(client.text) == "2\r\nok\r\n0\r\n\r\n")
        harness.expectQuiet()
    }

    @Test func completeResponseEndsTheUpload() throws {
        let harness = try ProxyHarness()
        let client = try harness.send(request("POST", "/x/a", ["Content-Length: 10"]) + "hel")
        try harness.respond("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno")
        #expect(client.text.hasPrefix("HTTP/1.1 403 Forbidden\r\n"))
        #expect(bodyPart(client.text) == "no")
        #expect(try harness.backend().hasEnded)
        client.send("loworld")
        harness.pass(1)
        #expect(bodyPart(harness.received) == "hel")
        #expect(harness.logged("bytes_in") == ["3"] && harness.logged("end") == [])
        harness.expectQuiet()
    }

    @Test func malformedUploadGets400AndIsNotCompleted() throws {
        let harness = try ProxyHarness()
        let client = try harness.send(
            request("POST", "/x/a", ["Transfer-Encoding: chunked"]) + "5\r\nhello\r\n")
        client.send("zz\r\n")
        harness.pass(1)
        #expect(client.text.hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
        #expect(bodyPart(harness.received) == "5\r\nhello\r\n")
        #expect(try harness.backend().hasEnded || !harness.backend().failures.isEmpty)
        harness.expectQuiet()
    }
}
