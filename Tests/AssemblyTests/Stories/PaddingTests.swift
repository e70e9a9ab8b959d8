import TestSupport
import Testing
import WorkerSupport

/// `min_duration`: every response of the endpoint leaves at the same time, whatever its outcome.
@Suite(.watched) struct PaddingTests {
    static let endpoint = """
        route: POST /x
        params: { n: { type: integer } }
        body: { type: object, max: 1KiB }
        deadline: 300ms
        min_duration: 400ms
        """

    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        var backend = ""
        var target = "/x"
        var body = "{}"
        var prepare: @Sendable (GatewayHarness) throws -> Void = { _ in }
        let status: Int

        var testDescription: String { name }
    }

    static let rows: [Row] = [
        Row(name: "200", status: 200),
        Row(name: "200, slow", prepare: { $0.on("/1", .ok("{}", after: 299)) }, status: 200),
        Row(name: "400, parameter", target: "/x?n=no", status: 400),
        Row(name: "400, body", body: "{", status: 400),
        Row(name: "401, relayed", prepare: { $0.on("/1", .status(401)) }, status: 401),
        Row(name: "413", body: String(repeating: " ", count: 1025), status: 413),
        Row(name: "502, refused", prepare: { $0.backend()?.refuse() }, status: 502),
        Row(name: "502, broken", prepare: { $0.on("/1", .ok("{")) }, status: 502),
        Row(
            name: "503", backend: "breaker: { open_at: 1%, min_requests: 1, try_again_after: 99s }",
            prepare: { harness in
                harness.on("/1", .status(500))
                let response = try harness.fetch(post("{}"))
                #expect(response.status == 502)
            }, status: 503),
        Row(name: "504", prepare: { $0.on("/1", .hangs) }, status: 504),
    ]

    @Test(arguments: rows) func everyResponseLeavesAtTheSameTime(_ row: Row) throws {
        let harness = try GatewayHarness(
            "one: { from: a, post: /1, required: true, relay_status: [401] }",
            endpoint: Self.endpoint, backend: row.backend)
        try row.prepare(harness)
        let response = try harness.fetch(post(row.body, to: row.target))
        #expect(response.outcome == "\(row.status) at 400")
        harness.expectQuiet()
    }

    @Test func partialResponseLeavesAtTheSameTime() throws {
        let harness = try GatewayHarness(RequiredTests.mixed, endpoint: "min_duration: 400ms")
        harness.on("/2", .status(500))
        #expect(try harness.fetch().outcome == "200 at 400")
        harness.expectQuiet()
    }

    @Test func paddingStartsAtTheLastByteOfTheBody() throws {
        let harness = try GatewayHarness(
            "one: { from: a, post: /1, required: true }", endpoint: Self.endpoint)
        let client = try harness.send(request("POST", "/x", ["Content-Length: 2"]) + "{")
        harness.pass(1000)
        client.send("}")
        #expect(harness.response(of: client).outcome == "200 at 400")
        harness.expectQuiet()
    }

    /// A chunked body turns out to be too large in its middle.
    @Test func paddingStartsAtTheRefusalOfATooLargeBody() throws {
        let harness = try GatewayHarness(
            "one: { from: a, post: /1, required: true }", endpoint: Self.endpoint)
        let client = try harness.send(
            request("POST", "/x", ["Transfer-Encoding: chunked"]) + "1\r\n{\r\n")
        harness.pass(1000)
        client.send("800\r\n\(String(repeating: " ", count: 0x800))\r\n")
        #expect(harness.response(of: client).outcome == "413 at 400")
        harness.expectQuiet()
    }

    @Test func paddingStartsAtTheRefusalOfATooLargeLength() throws {
        let harness = try GatewayHarness(
            "one: { from: a, post: /1, required: true }", endpoint: Self.endpoint)
        #expect(
            try harness.fetch(request("POST", "/x", ["Content-Length: 5000"])).outcome
                == "413 at 400"
        )
        harness.expectQuiet()
    }

    private static let broken: [(String, String, Int)] = [
        ("a chunk size", "zz\r\n", 400), ("a chunk end", "1\r\n{X", 400),
        ("trailers", "0\r\nX: " + String(repeating: "x", count: 9000), 431),
    ]

    /// The client does not wait for the end of its body either.
    @Test(arguments: broken)
    func refusalOfAMalformedBodyIsPadded(_ name: String, _ body: String, _ status: Int) throws {
        let harness = try GatewayHarness(
            "one: { from: a, post: /1, required: true }", endpoint: Self.endpoint)
        let client = try harness.send(request("POST", "/x", ["Transfer-Encoding: chunked"]))
        harness.pass(1000)
        client.send(body)
        let response = harness.response(of: client)
        #expect(response.outcome == "\(status) at 400")
        #expect(response["Connection"] == "close")
        #expect(client.isClosed && harness.events == [])
        #expect(harness.loggedStatuses == ["\(status)"])
        #expect(harness.responseCounts == ["POST /x: \(status) once"])
        harness.expectQuiet()
    }

    @Test func refusalOfAnIncompleteBodyIsPadded() throws {
        let harness = try GatewayHarness(
            "one: { from: a, post: /1, required: true }", endpoint: Self.endpoint)
        let client = try harness.send(request("POST", "/x", ["Content-Length: 10"]) + "{")
        harness.pass(10)
        client.end()
        harness.pass(399)
        #expect(client.responses.isEmpty)
        harness.pass(1)
        #expect(client.responses.map(\.status) == [400])
        harness.expectQuiet()
    }

    @Test func malformedBodyIsRefusedAtOnceWithoutPadding() throws {
        let harness = try GatewayHarness("one: { from: a, post: /1 }", endpoint: "route: POST /x")
        let response = try harness.fetch(
            request("POST", "/x", ["Transfer-Encoding: chunked"]) + "zz\r\n")
        #expect(response.outcome == "400 at 0")
        #expect(response["Content-Type"] == "application/problem+json")
        harness.expectQuiet()
    }

    /// A disconnect is detected while the refusal is delayed.
    @Test func clientDisconnectAfterAMalformedBodyIsDetected() throws {
        let harness = try GatewayHarness(
            "one: { from: a, post: /1, required: true }", endpoint: Self.endpoint)
        let client = try harness.send(
            request("POST", "/x", ["Transfer-Encoding: chunked"]) + "zz\r\n")
        harness.pass(10)
        client.leave()
        harness.pass(100)
        #expect(harness.loggedStatuses == ["499"])
        harness.expectQuiet()
    }

    @Test func slowBodiesTakeNoPermits() throws {
        let harness = try GatewayHarness(
            "one: { from: a, post: /1 }",
            endpoint: "route: POST /x\nmin_duration: 400ms\nmax_in_flight: 1")
        let slow = try (0..<5).map { _ in
            try harness.send(request("POST", "/x", ["Content-Length: 2"]) + "{")
        }
        harness.pass(10)
        #expect(try harness.fetch(post("{}")).outcome == "200 at 400")
        for client in slow { client.send("}") }
        harness.pass(400)
        #expect(slow.map { $0.responses.first?.status } == [200, 503, 503, 503, 503])
        harness.expectQuiet()
    }

    /// The limit of the process applies after the request has begun.
    @Test func rejectionAtTheLastByteOfABodyIsPadded() throws {
        let harness = try GatewayHarness(
            "one: { from: a, post: /1 }", endpoint: "route: POST /x\nmin_duration: 400ms",
            top: "limits: { requests_in_flight: 1 }")
        let slow = try (0..<2).map { _ in
            try harness.send(request("POST", "/x", ["Content-Length: 2"]) + "{")
        }
        harness.pass(10)
        for client in slow { client.send("}") }
        harness.pass(399)
        #expect(slow.allSatisfy { $0.responses.isEmpty })
        harness.pass(1)
        #expect(slow.map { $0.responses.first?.status } == [200, 503])
        #expect(slow[1].responses.first?["Retry-After"] == "1")
        harness.expectQuiet()
    }

    /// What a client sees before the response is the same for right and wrong credentials.
    @Test(arguments: ["word", "wrong"])
    func bodyIsReadWhateverTheCredential(_ password: String) throws {
        let harness = try GatewayHarness(
            "one: { from: a, post: /1, body: \"{request.body?}\" }",
            endpoint: "route: POST /x\nauth: tools\ndeadline: 300ms\nmin_duration: 400ms",
            top: "auth: { tools: { basic: { keys: tools.yaml } } }",
            files: ["tools.yaml": Keys.entry("ci", "word", user: true)])
        let client = try harness.send(
            request(
                "POST", "/x",
                [
                    "Authorization: \(Keys.basic("ci", password))", "Expect: 100-continue",
                    "Content-Length: 2",
                ]))
        harness.pass(100)
        #expect(client.interim == [100])
        client.send("{}")
        harness.pass(399)
        #expect(client.responses.isEmpty)
        harness.pass(1)
        #expect(client.responses.last?.status == (password == "word" ? 200 : 401))
        harness.expectQuiet()
    }

    @Test func unknownExpectationIsPadded() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1 }", endpoint: "min_duration: 400ms")
        let padded = try harness.fetch(request("GET", "/x", ["Expect: tea"]))
        #expect(padded.outcome == "417 at 400")
        let other = try harness.fetch(request("GET", "/y", ["Expect: tea"]))
        #expect(other.outcome == "417 at 0")
        harness.expectQuiet()
    }

    @Test func maxInFlightRefusalIsPadded() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1 }", endpoint: "min_duration: 400ms\nmax_in_flight: 1")
        let first = try harness.send(get())
        harness.pass(100)
        let response = try harness.fetch()
        #expect(response.outcome == "503 at 400")
        #expect(response["Retry-After"] == "1")
        #expect(first.responses.first?.outcome == "200 at 400")
        harness.expectQuiet()
    }

    @Test func paddedResponseStillCountsAsInFlight() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1 }", endpoint: "min_duration: 400ms\nmax_in_flight: 1")
        _ = try harness.send(get())
        harness.pass(399)
        #expect(try harness.fetch().status == 503)
        #expect(try harness.fetch().status == 200)
        harness.expectQuiet()
    }

    @Test func paddingHoldsNoBackendConnection() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1 }", endpoint: "min_duration: 400ms",
            backend: "max_concurrent: 1")
        _ = try harness.send(get())
        harness.pass(10)
        #expect(try harness.load() == "0 running, 0 waiting")
        harness.expectQuiet()
    }

    @Test(arguments: [(50, 400), (400, 400), (401, 500), (500, 500), (501, 600), (620, 700)])
    func laterResponsesLeaveAtTheNextStep(after: Int, leaves: Int) throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1 }",
            endpoint: "deadline: 2s\nmin_duration: 400ms\nround_up_to: 100ms")
        harness.on("/1", .ok("1", after: after))
        #expect(try harness.fetch().outcome == "200 at \(leaves)")
        harness.expectQuiet()
    }

    @Test func otherRoutesAreNotPadded() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1 }", endpoint: "min_duration: 400ms")
        #expect(try harness.fetch(get("/y")).outcome == "404 at 0")
        #expect(try harness.fetch(post("")).outcome == "405 at 0")
        harness.expectQuiet()
    }
}
