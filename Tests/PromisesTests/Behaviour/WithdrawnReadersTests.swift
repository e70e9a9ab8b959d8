import Promises
import Testing

/// Readers that withdraw from a pending promise do not accumulate: the number of their withdrawn
/// nodes is bounded. A cancelled node holds the cause of its cancellation, so the test counts the
/// causes that are alive.
@Suite(.timeLimit(.minutes(5))) struct WithdrawnReadersTests {
    /// Readers that can be cancelled while the promise goes on.
    enum Reader: CaseIterable {
        case shielded, mapped, shieldedAndMapped, guarantee, hopped, timedOut, atLeast, inRace
        case inAny, adopted, ensured, ensuredWaiting

        /// Attaches to the promise, and returns the promise to cancel.
        func read(
            _ promise: Promise<Int>, _ settled: Guarantee<Int>, _ end: Guarantee<Void>
        ) -> Promise<Int> {
            switch self {
            case .shielded: promise.shielded()
            case .mapped: promise.map { $0 }
            case .shieldedAndMapped: promise.shielded().map { $0 }
            case .guarantee: settled.promise
            case .hopped: promise.hop(to: .inline)
            case .timedOut: promise.timeout(.seconds(1))
            case .atLeast: promise.atLeast(.seconds(1))
            case .inRace: race([promise, .never(on: promise.context)])
            case .inAny: any([(key: 1, promise: promise)]).map { _ in 1 }
            case .adopted: Promise.value(1, on: .inline).then { _ in promise }
            case .ensured: promise.ensure {}
            case .ensuredWaiting:
                Promise.value(1, on: .inline).ensure(waiting: { end })
            }
        }
    }

    @Test(arguments: Reader.allCases) func withdrawnReadersFreeTheirNodes(_ reader: Reader) {
        let context = ManualContext()
        let resolver = Resolver<Int>(on: context).shared()
        let promise = resolver.promise
        let settled = promise.settled.map { $0.success ?? 0 }
        let end = settled.map { _ in }
        let other = promise.map { $0 + 1 }
        let counter = ErrorCounter()
        for _ in 0..<1_000 {
            reader.read(promise, settled, end).cancel(because: counter.error())
            context.drain()
        }
        #expect(counter.alive <= 40)
        #expect(!resolver.isCancelled)
        resolver.fulfill(1)
        context.drain()
        #expect(other.value == 2)
        #expect(counter.alive == 0)
    }

    @Test func withdrawnLocalReadersFreeTheirNodes() {
        let context = ManualContext()
        LocalContext.run(on: context) { local in
            let box = LocalResolverBox(local)
            let settled = box.promise.settled
            let shared = box.promise.shared
            let counter = ErrorCounter()
            for _ in 0..<1_000 {
                box.promise.shielded().cancel(because: counter.error())
                box.promise.shielded().map { $0 }.cancel(because: counter.error())
                settled.shielded().cancel(because: counter.error())
                shared.shielded().cancel(because: counter.error())
            }
            context.drain()
            #expect(counter.alive <= 160)
            let last = box.promise.map { $0 }
            box.fulfill(1)
            context.drain()
            #expect(last.value == 1)
            #expect(counter.alive == 0)
        }
    }

    @Test func racesWithALongLivedPromiseFreeTheirHandlers() {
        let context = ManualContext()
        let resolver = Resolver<Int>(on: context).shared()
        let shutdown = resolver.promise.settled
        let freed = Journal<Int>()
        for number in 0..<1_000 {
            let token = Token { freed.add(number) }
            let stop = shutdown.promise.map { _ -> Int in
                withExtendedLifetime(token) {}
                throw Failure("shutdown")
            }
            race([Promise.value(1, on: context), stop]).cauterize()
            context.drain()
        }
        #expect(freed.entries.count == 1_000)
        #expect(!resolver.isCancelled)
        let last = race([shutdown.promise.map { _ in 2 }, .never(on: context)])
        resolver.fulfill(1)
        context.drain()
        #expect(last.value == 2)
    }

    @Test func remainingReadersRunInOrder() {
        let context = ManualContext()
        let resolver = Resolver<Int>(on: context).shared()
        let promise = resolver.promise
        let journal = Journal<Int>()
        for number in 0..<200 {
            promise.shielded().done { _ in journal.add(number) }.cauterize()
            for _ in 0..<5 { promise.shielded().cancel() }
            try? { _ = try promise.map { $0 }.wait(for: .zero) }()
        }
        resolver.fulfill(1)
        context.drain()
        #expect(journal.entries == Array(0..<200))
    }

    @Test("a shielded reader keeps the work going, also after its cancellation")
    func shieldedReadersKeepTheWorkGoing() {
        let context = ManualContext()
        let resolver = Resolver<Int>(on: context).shared()
        let other = resolver.promise.map { $0 }
        resolver.promise.shielded().cancel()
        other.cancel()
        #expect(!resolver.isCancelled)
        // Without a shielded reader the work stops.
        let second = Resolver<Int>(on: context).shared()
        second.promise.map { $0 }.cancel()
        #expect(second.isCancelled)
    }

    @Test("cancelling `ensure` does not cancel the guarantee that it waits for")
    func ensureDoesNotCancelAGuarantee() {
        let context = ManualContext()
        let resolver = Resolver<Int>(on: context).shared()
        let cleanup = resolver.promise.settled.map { _ in }
        let end = Promise.value(1, on: context).ensure(waiting: { cleanup })
        context.drain()
        end.cancel()
        let seen = Journal<String>()
        cleanup.done { seen.add("done") }
        resolver.fulfill(1)
        context.drain()
        #expect(seen.entries == ["done"])
        #expect(end.error is Cancelled)
    }

    @Test("a wait that timed out is removed, and others receive the outcome")
    func waitThatTimesOutIsRemoved() {
        let resolver = Resolver<Int>().shared()
        let promise = resolver.promise
        for _ in 0..<100 {
            #expect(throws: PromiseError.timedOut) { try promise.wait(for: .zero) }
        }
        onAnotherThread { resolver.fulfill(3) }
        #expect(try! promise.wait(for: .seconds(10)) == 3)
    }
}
