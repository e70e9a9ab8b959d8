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
        let context = RequestContext(
            ExchangeStart(
                id: RequestID(from: loop.entropy), trace: TraceContext(from: loop.entropy),
                local: loop.local, began: loop.now))
        context.requestReceived = loop.now + .seconds(3)
        #expect(context.deadline == Instant(nanoseconds: .max))
        var seen: Instant?
        let service = Deadline.filter(.seconds(2)).around(
            Service { _, context in
                seen = context.deadline
                return context.local.value(Response(status: .ok, fields: Fields(), body: Bytes()))
            })
        _ = service(try request(), context)
        #expect(seen == context.began + .seconds(5))
    }

    private func request() throws -> Request {
        Request(head: RequestHead(method: .get, target: try #require(Target("/x"))), body: .empty)
    }
}
