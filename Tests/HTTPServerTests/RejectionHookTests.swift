import Basics
import HTTP
import Promises
import Reactor
import SimReactor
import Testing

@testable import HTTPServer

/// The server's own responses pass the embedder's chain, whatever they reject.
@Suite struct RejectionHookTests {
    /// Adds a field to each response, as a filter for all responses does.
    private static func marked(
        _ response: Response, _ request: Request, _ exchange: Exchange
    ) -> LocalPromise<Response> {
        var response = response
        response.fields.append(["X-Door": "passed"])
        return exchange.local.value(response)
    }

    private static let rejected: [(String, String)] = [
        ("GET / HTTP/1.1\r\n\r\n", "400"),
        ("GET / HTTP/1.1\r\nHo", "408"),
        (get("/" + String(repeating: "a", count: 9000)), "414"),
        (get("/", "Expect: magic\r\n"), "417"),
        (get("/", "X: " + String(repeating: "a", count: 40_000) + "\r\n"), "431"),
        (get("/fails"), "500"),
        ("CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n", "501"),
        ("GET / HTTP/9.0\r\nHost: a\r\n\r\n", "505"),
        (post("Transfer-Encoding: chunked\r\n", "zz\r\n"), "400"),
        (post("Content-Length: 9\r\n", "he"), "408"),
    ]

    @Test(arguments: rejected)
    func everyRejectionPassesTheChain(_ text: String, _ status: String) throws {
        struct Failure: Error {}
        let service: (ServerHarness, Request, Exchange) -> LocalPromise<Response> = {
            harness, request, exchange in
            guard request.head.target.text != Bytes("/fails") else {
                return exchange.local.error(Failure())
            }
            return ServerHarness.echoBody(harness, request, exchange)
        }
        var settings = ServerSettings()
        settings.limits.bodyTimeout = .seconds(3)
        let harness = try ServerHarness(settings, service: service, rejection: Self.marked)
        let peer = try harness.connect()
        peer.send(text)
        harness.advance(11_000)
        #expect(summary(of: peer).hasPrefix(status))
        #expect(peer.text.contains("X-Door: passed\r\n"))
        #expect(harness.log.count == 1 && harness.log[0].contains(status))
        // Without the chain nothing adds the field.
        let plain = try ServerHarness(settings, service: service)
        let other = try plain.connect()
        other.send(text)
        plain.advance(11_000)
        #expect(summary(of: other) == summary(of: peer) && !other.text.contains("X-Door"))
    }

    @Test func rejectionOfAConnectionBeyondTheLimitPassesTheChain() throws {
        var settings = ServerSettings()
        settings.connections = 1
        let harness = try ServerHarness(
            settings, service: ServerHarness.echo, rejection: Self.marked)
        let first = try harness.connect()
        first.send("GET /")
        harness.advance()
        let second = try harness.connect()
        harness.advance()
        #expect(summary(of: second) == "503 close!" && second.text.contains("X-Door: passed\r\n"))
        #expect(harness.log == ["refused 503"])
    }

    @Test func rejectionWithoutAPermitPassesTheChainAndKeepsTheConnection() throws {
        var settings = ServerSettings()
        settings.requestsInFlight = 0
        let harness = try ServerHarness(
            settings, service: ServerHarness.echo, rejection: Self.marked)
        let peer = try harness.connect()
        peer.send(get("/1") + get("/2"))
        harness.advance()
        #expect(summary(of: peer) == "503 | 503")
        #expect(peer.text.split(separator: "\r\n").count { $0 == "X-Door: passed" } == 2)
    }

    @Test func responsesOfTheServiceBypassTheChain() throws {
        var passed = 0
        let harness = try ServerHarness(rejection: { response, _, exchange in
            passed += 1
            return exchange.local.value(response)
        })
        #expect(
            try harness.responses(to: get("/1") + get("/2")) == "200 /1 | 200 /2" && passed == 0)
    }

    @Test func passesTheRequestToTheChainIfThereIsOne() throws {
        var seen: [String] = []
        let harness = try ServerHarness(
            service: ServerHarness.echoBody,
            rejection: { response, request, exchange in
                seen.append("\(request.head.method) \(request.head.target) \(response.status)")
                return exchange.local.value(response)
            })
        for text in [
            "PUT /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            "PUT /x HTTP/1.1\r\n\r\n", "HEAD /x HTTP/1.1\r\n\r\n",
        ] {
            _ = try harness.responses(to: text)
        }
        // For input that is not a request, a placeholder is passed.
        #expect(seen == ["PUT /x 400", "GET / 400", "HEAD / 400"])
    }

    @Test func sendsTheRejectionWhenTheChainFails() throws {
        struct Failure: Error {}
        let harness = try ServerHarness(rejection: { _, _, exchange in
            exchange.local.error(Failure())
        })
        #expect(try harness.responses(to: "BAD\r\n\r\n") == "400 close!")
    }

    @Test func waitsForTheChain() throws {
        let harness = try ServerHarness(rejection: { response, _, exchange in
            exchange.local.value(response).delayed(by: .milliseconds(100))
        })
        let peer = try harness.connect()
        peer.send("BAD\r\n\r\n" + get())
        harness.advance(50)
        #expect(summary(of: peer) == "")
        harness.advance(60)
        #expect(summary(of: peer) == "400 close!" && harness.requests.isEmpty)
    }

    @Test func lostClientCancelsTheChain() throws {
        var wasCancelled = false
        let pending = Pending()
        let harness = try ServerHarness(rejection: { _, _, exchange in
            let resolver = LocalResolver<Response>(on: exchange.local)
            resolver.onCancel { _ in wasCancelled = true }
            let promise = resolver.promise
            pending.resolver = consume resolver
            return promise
        })
        let peer = try harness.connect()
        peer.send("BAD\r\n\r\n")
        harness.advance()
        (peer.stream as? SimStream)?.reset()
        harness.advance()
        #expect(wasCancelled && harness.server.connectionCount == 0)
        #expect(harness.log == ["refused 400"])
    }

    private final class Pending {
        var resolver: LocalResolver<Response>?
    }
}
