import Basics
import HTTP
import HTTPClient
import HTTPServer
import Promises
import Reactor
import SimReactor
import Testing

@testable import Gateway

/// The filters before the routes: every request passes them, also one without an endpoint.
@Suite struct EntryFiltersTests {
    private let network = SimNetwork(seed: 1)

    /// Adds a field to each response.
    private let marking = Filter<Request, Response> { next in
        Service { request, context in
            next(request, context).map { response in
                var response = response
                response.fields.append(["X-Filter": "passed"])
                return response
            }
        }
    }

    /// Responds instead of the routes.
    private let closed = Filter<Request, Response> { _ in
        Service { _, context in context.local.value(Response(status: .forbidden)) }
    }

    /// The responses of a gateway with these entry filters, including rejections of the server.
    private func responses(_ entryFilters: [Filter<Request, Response>]?, _ texts: [String]) throws
        -> [String]
    {
        let (config, problems) = load(["c.yaml": Snippet.top("")])
        let plan = try Planner.plan(try #require(config, "\(problems.lines)"), processors: 1)
        let loop = network.makeLoop("gateway")
        let gateway = GatewayService(
            plan, endpointNumbers: [0], pools: ConnectionPools(loop: loop), loop: loop,
            targets: nil,
            entryFilters: entryFilters)
        var hooks = ServerHooks()
        hooks.makeExchange = { RequestContext($0) }
        hooks.rejection = { gateway.reject(with: $0, $1, $2.context) }
        let server = Server(loop: loop, hooks: hooks) { gateway.handleRequest($0, $1.context) }
        let address = try server.listen(on: .ip(.v4(0x7F00_0001), port: 0))
        let outside = network.makeLoop("client")
        return texts.map { text in
            var peer: ScriptedPeer?
            outside.timer(after: .zero) {
                outside.connect(to: address).whenSettled { result in
                    peer = (try? result.get()).map(ScriptedPeer.init)
                    peer?.send(text)
                }
            }
            network.advance(by: .seconds(1))
            let received = peer?.text ?? ""
            peer?.stream.close()
            network.advance(by: .seconds(1))
            let status = received.split(separator: " ").dropFirst().first ?? ""
            return "\(status)\(received.contains("X-Filter: passed\r\n") ? " passed" : "")"
        }
    }

    private static let texts = [
        "GET /x HTTP/1.1\r\nHost: a\r\n\r\n", "GET /y HTTP/1.1\r\nHost: a\r\n\r\n",
        "PUT /x HTTP/1.1\r\nHost: a\r\n\r\n", "GET /x HTTP/1.1\r\n\r\n", "BAD\r\n\r\n",
    ]

    /// Rejections of the server do not: they are responses already.
    @Test func allRequestsPassTheEntryFilters() throws {
        #expect(
            try responses([marking], Self.texts) == [
                "502 passed", "404 passed", "405 passed", "400", "400",
            ])
    }

    @Test func chainHasNoEntryFiltersByDefault() throws {
        #expect(try responses(nil, Self.texts) == ["502", "404", "405", "400", "400"])
    }

    @Test func entryFilterCanRespondInsteadOfTheRoutes() throws {
        #expect(
            try responses([marking, closed], Array(Self.texts.prefix(2))) == [
                "403 passed", "403 passed",
            ])
    }
}
