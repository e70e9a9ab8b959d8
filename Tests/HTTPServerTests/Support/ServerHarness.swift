import Basics
import Foundation
import HTTP
import Promises
import Reactor
import SimReactor
import TestSupport
import Testing

@testable import HTTPServer

/// A server on a simulated loop, with a service in the test's hands, and clients that speak to it.
final class ServerHarness: Harness {
    let testbed: Testbed
    var network: SimNetwork { testbed.network }
    var serverLoop: SimLoop { testbed.loop }
    var clientLoop: SimLoop { testbed.peerLoop }
    private(set) var server: Server
    private var address = SocketAddress.ip(.v4(0x7F00_0001), port: 0)

    /// Requests that the service was asked, in order.
    private(set) var asked: [(request: Request, exchange: Exchange)] = []
    /// Answers that a held service still owes, in order of asking.
    private var owed: [Owed] = []
    /// Promises that were cancelled, by the number of their request.
    private(set) var cancelled: [Int] = []
    /// What the hooks told: `GET /path 200 5`, `refused 400`.
    private(set) var log: [String] = []

    /// What the service does with a request.
    var service: (ServerHarness, Request, Exchange) -> LocalPromise<Response>

    /// - Parameter rejection: the embedder's chain for responses that the server gives itself
    init(
        seed: UInt64 = 1, _ settings: ServerSettings = ServerSettings(),
        service: @escaping (ServerHarness, Request, Exchange) -> LocalPromise<Response> =
            ServerHarness
            .echo,
        rejection: ((Response, Request, Exchange) -> LocalPromise<Response>)? = nil
    ) throws {
        testbed = Testbed(seed: seed, subject: "server", peers: "client")
        self.service = service
        server = Server(loop: testbed.loop, settings: settings) { _, exchange in
            exchange.local.error(PromiseError.abandoned)
        }
        var hooks = hooks()
        hooks.rejection = rejection
        server = Server(loop: serverLoop, settings: settings, hooks: hooks) {
            [unowned self] request, exchange in
            asked.append((request, exchange))
            return self.service(self, request, exchange)
        }
        address = try server.listen(on: address)
    }

    private func hooks() -> ServerHooks {
        var hooks = ServerHooks()
        hooks.exchangeEnded = { [unowned self] ended in
            log.append(
                "\(ended.request.method) \(ended.request.target) \(ended.status) \(ended.bodyBytes)"
                    + (ended.isTruncated ? " truncated" : ""))
        }
        hooks.requestRefused = { [unowned self] status, _ in log.append("refused \(status)") }
        return hooks
    }

    /// Answers with the request's target at once.
    static func echo(_ harness: ServerHarness, _ request: Request, _ exchange: Exchange)
        -> LocalPromise<
            Response
        >
    {
        exchange.local.value(Response(status: .ok, body: request.head.target.text))
    }

    /// Answers with the body of the request, of at most 100 bytes.
    static func echoBody(_ harness: ServerHarness, _ request: Request, _ exchange: Exchange)
        -> LocalPromise<
            Response
        >
    {
        request.body.collect(upTo: 100, on: exchange.local)
            .map { Response(status: .ok, body: $0) }
            .recover { error in
                if error is WireError { return exchange.local.error(error) }
                let status: Status = error is BodyTooLarge ? .contentTooLarge : .internalServerError
                return exchange.local.value(Response(status: status))
            }
    }

    /// Answers when the test says so.
    static func held(_ harness: ServerHarness, _ request: Request, _ exchange: Exchange)
        -> LocalPromise<
            Response
        >
    {
        let owed = Owed(exchange.local)
        harness.owed.append(owed)
        let number = harness.asked.count - 1
        let promise = owed.promise
        owed.resolver?.onCancel { [unowned harness] _ in harness.cancelled.append(number) }
        return promise
    }

    /// Gives the oldest answer that is owed.
    func answer(_ body: String = "ok") {
        let first = owed.removeFirst()
        onServer { first.resolver.take()?.fulfill(Response(status: .ok, body: Bytes(body))) }
    }

    private final class Owed {
        var resolver: LocalResolver<Response>?
        let promise: LocalPromise<Response>

        init(_ local: LocalContext) {
            let resolver = LocalResolver<Response>(on: local)
            promise = resolver.promise
            self.resolver = consume resolver
        }
    }

    /// A client that is connected.
    func connect() throws -> ScriptedPeer {
        ScriptedPeer(try testbed.connect(to: address))
    }

    /// Does something as an event of the server's loop.
    func onServer(_ action: @escaping () -> Void) {
        testbed.perform(on: serverLoop, action)
    }

    /// Lets time pass.
    func advance(_ milliseconds: Int = 5) {
        testbed.pass(.milliseconds(milliseconds))
    }

    /// What a client that sends a text gets within some milliseconds: `200 /path | 400!`, where `!`
    /// is a closed connection, `+100` an interim answer.
    func answers(to text: String, within milliseconds: Int = 5) throws -> String {
        let peer = try connect()
        peer.send(text)
        advance(milliseconds)
        let told = summary(of: peer)
        peer.stream.close()
        advance()
        return told
    }
}

/// The answers that a client has got, in words.
func summary(of peer: ScriptedPeer, toHead: Bool = false) -> String {
    var words: [String] = []
    var parser = ResponseParser(peer.received)
    while let response = parser.next(toHead: toHead, takesCutBody: true) {
        if response.status < 200 {
            words.append("+\(response.status)")
            continue
        }
        let isProblem = response["Content-Type"] == "application/problem+json"
        let says = response["Connection"] == "close" ? " close" : ""
        let body = isProblem || response.body.isEmpty ? "" : " \(response.body)"
        words.append("\(response.status)\(says)\(body)")
    }
    if !parser.rest.isEmpty { words.append("garbage") }
    return words.joined(separator: " | ") + (peer.hasEnded ? "!" : "")
}

/// A GET with a `Host`, and more lines.
func get(_ target: String = "/", _ fields: String = "") -> String {
    "GET \(target) HTTP/1.1\r\nHost: a\r\n\(fields)\r\n"
}

/// A POST with a `Host`, more lines and what follows the head.
func post(_ fields: String, _ rest: String = "") -> String {
    "POST / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n\(rest)"
}
