import Basics
import Foundation
import HTTP
import Promises
import Reactor
import SimReactor
import TestSupport
import Testing

@testable import HTTPServer

/// A server on a simulated loop, with a service that the test controls, and its clients.
final class ServerHarness: Harness {
    let testbed: Testbed
    var network: SimNetwork { testbed.network }
    var serverLoop: SimLoop { testbed.loop }
    var clientLoop: SimLoop { testbed.peerLoop }
    private(set) var server: Server
    private var address = SocketAddress.ip(.v4(0x7F00_0001), port: 0)

    /// The requests of the service, in order.
    private(set) var requests: [(request: Request, exchange: Exchange)] = []
    /// Pending responses of the deferred service, in the order of their requests.
    private var pending: [PendingResponse] = []
    /// The numbers of requests whose promises were cancelled.
    private(set) var cancelled: [Int] = []
    /// Whether the clients are proxies.
    var isProxy = false
    /// The calls of the hooks: `GET /path 200 5`, `refused 400`.
    private(set) var log: [String] = []

    /// The service.
    var service: (ServerHarness, Request, Exchange) -> LocalPromise<Response>

    /// - Parameter rejection: the embedder's chain for the server's own responses
    init(
        seed: UInt64 = 1, _ settings: ServerSettings = ServerSettings(),
        listeners: [ListenerSettings] = [ListenerSettings()],
        service: @escaping (ServerHarness, Request, Exchange) -> LocalPromise<Response> =
            ServerHarness
            .echo,
        rejection: ((Response, Request, Exchange) -> LocalPromise<Response>)? = nil
    ) throws {
        testbed = Testbed(seed: seed, subject: "server", peers: "client")
        self.service = service
        server = Self.idleServer(on: testbed.loop)
        var hooks = hooks()
        hooks.rejection = rejection
        server = Server(loop: serverLoop, settings: settings, listeners: listeners, hooks: hooks) {
            [unowned self] request, exchange in
            requests.append((request, exchange))
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
        hooks.isProxy = { [unowned self] _ in isProxy }
        hooks.handshakeFailed = { [unowned self] failure, _ in log.append("handshake \(failure)") }
        hooks.requestRefused = { [unowned self] in log.append("refused \($0.status)") }
        return hooks
    }

    /// Responds with the request's target at once.
    static func echo(_ harness: ServerHarness, _ request: Request, _ exchange: Exchange)
        -> LocalPromise<
            Response
        >
    {
        exchange.local.value(Response(status: .ok, body: request.head.target.text))
    }

    /// Responds with the body of the request, of at most 100 bytes.
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

    /// Responds when the test calls `respond`.
    static func deferred(_ harness: ServerHarness, _ request: Request, _ exchange: Exchange)
        -> LocalPromise<
            Response
        >
    {
        let pending = PendingResponse(exchange.local)
        harness.pending.append(pending)
        let number = harness.requests.count - 1
        let promise = pending.promise
        pending.resolver?.onCancel { [unowned harness] _ in harness.cancelled.append(number) }
        return promise
    }

    /// Completes the oldest pending response.
    func respond(_ body: String = "ok") {
        let first = pending.removeFirst()
        onServer { first.resolver.take()?.fulfill(Response(status: .ok, body: Bytes(body))) }
    }

    private final class PendingResponse {
        var resolver: LocalResolver<Response>?
        let promise: LocalPromise<Response>

        init(_ local: LocalContext) {
            let resolver = LocalResolver<Response>(on: local)
            promise = resolver.promise
            self.resolver = consume resolver
        }
    }

    /// A connected client.
    func connect() throws -> ScriptedPeer {
        ScriptedPeer(try testbed.connect(to: address))
    }

    /// A server without a listener.
    private static func idleServer(on loop: SimLoop) -> Server {
        Server(loop: loop, settings: ServerSettings()) { _, exchange in
            exchange.local.error(PromiseError.abandoned)
        }
    }

    /// Drains the server, closes it, and releases it.
    func endServer() {
        _ = server.drain()
        server.close()
        releaseServer()
    }

    /// Only its connections hold the server from now on.
    func releaseServer() {
        server = Self.idleServer(on: serverLoop)
    }

    /// Runs an action as an event of the server's loop.
    func onServer(_ action: @escaping () -> Void) {
        testbed.perform(on: serverLoop, action)
    }

    /// Advances the time.
    func advance(_ milliseconds: Int = 5) {
        testbed.advance(by: .milliseconds(milliseconds))
    }

    /// The responses to a text within some milliseconds: `200 /path | 400!`, where `!` is a closed
    /// connection and `+100` an interim response.
    func responses(to text: String, within milliseconds: Int = 5) throws -> String {
        let peer = try connect()
        peer.send(text)
        advance(milliseconds)
        let received = summary(of: peer)
        peer.stream.close()
        advance()
        return received
    }
}

/// The responses that a client has received, as a text.
func summary(of peer: ScriptedPeer, toHead: Bool = false) -> String {
    var words: [String] = []
    var parser = ResponseParser(peer.received)
    while let response = parser.next(toHead: toHead, takesCutBody: true) {
        if response.status < 200 {
            words.append("+\(response.status)")
            continue
        }
        let isProblem = response["Content-Type"] == "application/problem+json"
        let close = response["Connection"] == "close" ? " close" : ""
        let body = isProblem || response.body.isEmpty ? "" : " \(response.body)"
        words.append("\(response.status)\(close)\(body)")
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
