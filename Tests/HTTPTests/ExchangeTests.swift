import Basics
import HTTP
import Promises
import Testing

@Suite struct ExchangeTests {
    private let permits = Permits()

    private func exchange() -> Exchange {
        let entropy = Entropy(seed: 1)
        return Exchange(
            ExchangeStart(
                id: RequestID(from: entropy), trace: TraceContext(from: entropy),
                local: LocalContext(on: ManualContext()), began: Instant(nanoseconds: 0)))
    }

    @Test func holdsPermitsUntilItsEnd() throws {
        let exchange = exchange()
        for _ in 0..<2 { exchange.holdPermit(try #require(permits.take(below: 2))) }
        #expect(permits.inUse == 2)
        exchange.end()
        #expect(permits.inUse == 0)
        exchange.end()
        #expect(permits.inUse == 0)
    }

    @Test func releasesPermitsWithOtherOwnersAtItsEnd() throws {
        let exchange = exchange()
        let permit = try #require(permits.take(below: 1))
        exchange.holdPermit(permit)
        exchange.end()
        #expect(permits.inUse == 0)
        withExtendedLifetime(permit) {}
    }

    @Test func releasesPermitsWhenItIsDropped() throws {
        var exchange: Exchange? = exchange()
        exchange?.holdPermit(try #require(permits.take(below: 1)))
        #expect(permits.inUse == 1)
        exchange = nil
        #expect(exchange == nil && permits.inUse == 0)
    }

    /// Reclaiming memory closes connections, which may end the exchange that requested it.
    @Test(arguments: [false, true])
    func returnsBytesIfReclaimingMemoryEndsTheExchange(_ endsExchange: Bool) {
        let budget = ByteBudget(limit: 100)
        let entropy = Entropy(seed: 1)
        let exchange = Exchange(
            ExchangeStart(
                id: RequestID(from: entropy), trace: TraceContext(from: entropy),
                local: LocalContext(on: ManualContext()), began: Instant(nanoseconds: 0),
                budget: budget
            ))
        #expect(exchange.reserve(20))
        budget.reclaim = { _ in if endsExchange { exchange.end() } }
        #expect(exchange.reserve(70))
        #expect(budget.bytesHeld == (endsExchange ? 0 : 90))
        exchange.end()
        #expect(budget.bytesHeld == 0)
        budget.reclaim = nil
    }

    @Test func holdsNoPermitAfterItsEnd() throws {
        let exchange = exchange()
        exchange.end()
        let permit = try #require(permits.take(below: 1))
        exchange.holdPermit(permit)
        #expect(permits.inUse == 0)
    }

    /// A release may start work that holds permits of the same exchange.
    @Test func releaseMayUseTheExchangeAgain() throws {
        let exchange = exchange()
        exchange.holdPermit(try #require(permits.take(below: 1)))
        permits.afterRelease { [permits] in
            permits.afterRelease(nil)
            permits.take(below: 1).map(exchange.holdPermit)
        }
        exchange.end()
        #expect(permits.inUse == 0)
    }
}
