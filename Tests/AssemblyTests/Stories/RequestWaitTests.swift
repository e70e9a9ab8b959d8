import Assembly
import TestSupport
import Testing
import WorkerSupport

/// What a request in flight waits for, as a snapshot shows it.
@Suite(.watched) struct RequestWaitTests {
    /// `calls: one b 127.0.0.1:7001 response 30 #1`
    private func wait(_ harness: GatewayHarness) throws -> String {
        let requests = try #require(harness.instance).snapshot.requests
        return requests.map { request in
            switch request.wait {
            case nil: "hidden"
            case .nothing: "nothing"
            case .body: "body"
            case .store: "store"
            case .keys: "keys"
            case .client: "client"
            case .calls(let calls):
                calls.map { call in
                    "\(call.name) \(call.backend) \(call.host ?? "-") \(call.reason.rawValue)"
                        + " \(call.time / .milliseconds(1)) #\(call.attempt)"
                }.joined(separator: ", ")
            }
        }.joined(separator: "; ")
    }

    @Test func waitsForTheBodyOfTheClient() throws {
        let harness = try GatewayHarness(
            "one: { from: a, post: /1, body: \"{request.body}\" }",
            endpoint: "route: POST /x\nbody: { type: object }")
        let client = try harness.send(
            "POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{")
        harness.pass(10)
        #expect(try wait(harness) == "body")
        client.send("}")
        #expect(harness.response(of: client).status == 200)
        #expect(try wait(harness) == "")
        harness.expectQuiet()
    }

    @Test func waitsForAResponseAndForAPermit() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1 }\ntwo: { from: a, get: /2 }",
            backend: "max_concurrent: 1, queue: { size: 5, wait: 1s }")
        harness.on("/1", .ok("1", after: 100))
        _ = try harness.send(get())
        harness.pass(30)
        #expect(
            try wait(harness)
                == "one a 127.0.0.1:7001 response 30.0 #1, two a - permit 30.0 #1")
        harness.pass(100)
        harness.expectQuiet()
    }

    @Test func waitsForAConnection() throws {
        let harness = try GatewayHarness("one: { from: a, get: /1 }")
        harness.silence(7001)
        _ = try harness.send(get())
        harness.pass(20)
        #expect(try wait(harness) == "one a 127.0.0.1:7001 connection 20.0 #1")
        harness.pass(3_000)
        harness.expectQuiet()
    }

    @Test func waitsForTheNextAttempt() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1, retry: { attempts: 2, on: [503], backoff: 200ms } }")
        harness.on("/1", .status(503), .ok("1"))
        _ = try harness.send(get())
        harness.pass(10)
        #expect(try wait(harness) == "one a - retry 10.0 #2")
        harness.pass(1_000)
        #expect(try wait(harness) == "")
        harness.expectQuiet()
    }

    /// The call has ended with the head of its response.
    @Test func waitsForTheRestOfAStreamedResponse() throws {
        let harness = try ProxyHarness("to: a, retry: { attempts: 2, on: [503], backoff: 0ms }")
        try harness.send(get("/x/a"))
        try harness.respond("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n")
        try harness.respond("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab")
        harness.pass(20)
        #expect(try wait(harness.gateway) == "proxy a 127.0.0.1:7001 body 21.0 #2")
        harness.expectQuiet()
    }

    @Test func hidesTheWaitOfAPaddedEndpoint() throws {
        let harness = try GatewayHarness(
            "one: { from: a, get: /1 }", endpoint: "min_duration: 300ms\ndeadline: 200ms")
        _ = try harness.send(get())
        harness.pass(10)
        #expect(try wait(harness) == "hidden")
        harness.pass(1_000)
        harness.expectQuiet()
    }
}
