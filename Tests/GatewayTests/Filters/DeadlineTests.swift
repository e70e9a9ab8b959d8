import Basics
import HTTP
import Promises
import SimReactor
import Testing

@testable import Gateway

@Suite struct DeadlineTests {
    @Test func countsFromTheLastByteOfTheRequest() throws {
        let network = SimNetwork(seed: 1)
        let loop = network.makeLoop("worker")
        let exchange = RequestContext(
            ExchangeStart(
                id: RequestID(from: loop.entropy), trace: TraceContext(from: loop.entropy),
                local: loop.local, began: loop.now))
        exchange.requestReceived = loop.now + .seconds(3)
        #expect(exchange.deadline == Instant(nanoseconds: .max))
        var seen: Instant?
        let service = Deadline.filter(.seconds(2)).around(
            Service { _, exchange in
                seen = exchange.deadline
                return exchange.local.value(Response(status: .ok, fields: Fields(), body: Bytes()))
            })
        _ = service(try request(), exchange)
        #expect(seen == exchange.began + .seconds(5))
    }

    private func request() throws -> Request {
        Request(head: RequestHead(method: .get, target: try #require(Target("/x"))), body: .empty)
    }
}
