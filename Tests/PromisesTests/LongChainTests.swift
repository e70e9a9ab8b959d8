import Promises
import Testing

/// A million links on a stack of 512 KiB. F31, P4.
@Suite(.serialized, .timeLimit(.minutes(5))) struct LongChainTests {
    static let links = ThreadSanitizer.shortened(1_000_000)

    enum End: CaseIterable { case settled, rejected, dropped, cancelledFromTheEnd }

    @Test(arguments: End.allCases) func onALocalContext(end: End) {
        onAnotherThread(stackBytes: 512 * 1024) {
            let context = ManualContext()
            LocalContext.run(on: context) { local in
                let resolver = LocalResolver<Int>(on: local)
                var last = resolver.promise
                // Any link that used the stack would overflow it long before the last one.
                let links = end == .settled ? LongChainTests.links : LongChainTests.links / 5
                for _ in 0..<links { last = last.map { $0 &+ 1 } }
                switch end {
                case .settled: resolver.fulfill(0)
                case .rejected: resolver.reject(Failure("x"))
                case .dropped: _ = consume resolver
                case .cancelledFromTheEnd:
                    last.cancel()
                    let isCancelled = resolver.isCancelled
                    #expect(isCancelled)
                }
                context.drain()
                switch end {
                case .settled: #expect(last.value == links)
                case .rejected: #expect(last.error is Failure)
                case .dropped: #expect(last.error as? PromiseError == .abandoned)
                case .cancelledFromTheEnd: #expect(last.error is Cancelled)
                }
            }
        }
    }

    @Test(arguments: End.allCases) func onAnyThread(end: End) {
        onAnotherThread(stackBytes: 512 * 1024) {
            let context = ManualContext()
            let resolver = Resolver<Int>(on: context)
            var last = resolver.promise
            for _ in 0..<LongChainTests.links / 5 { last = last.map { $0 &+ 1 } }
            switch end {
            case .settled: resolver.fulfill(0)
            case .rejected: resolver.reject(Failure("x"))
            case .dropped: _ = consume resolver
            case .cancelledFromTheEnd: last.cancel()
            }
            context.drain()
            #expect(!last.isPending)
        }
    }

    /// Each link continues with a promise that is still pending, a thousand deep.
    @Test func nestedAdoption() {
        onAnotherThread(stackBytes: 512 * 1024) {
            let context = ManualContext()
            LocalContext.run(on: context) { local in
                let resolver = LocalResolver<Int>(on: local)
                var last = resolver.promise
                for _ in 0..<LongChainTests.links / 10 {
                    let inner = last
                    last = local.value(()).then { inner }
                }
                context.drain()
                resolver.fulfill(1)
                context.drain()
                #expect(last.value == 1)
            }
        }
    }

    /// Races of races, cancelled at the outermost one.
    @Test func nestedCombinatorsCancelWithoutRecursion() {
        onAnotherThread(stackBytes: 512 * 1024) {
            let context = ManualContext()
            LocalContext.run(on: context) { local in
                let resolver = LocalResolver<Int>(on: local)
                var last = resolver.promise
                for _ in 0..<LongChainTests.links / 10 { last = local.race([last, local.never()]) }
                last.cancel()
                context.drain()
                let isCancelled = resolver.isCancelled
                #expect(isCancelled)
            }
        }
    }

    @Test("many closures of `onCancel` run in order, and are freed without recursion")
    func manyCancellationClosures() {
        onAnotherThread(stackBytes: 512 * 1024) {
            let context = ManualContext()
            let journal = Journal<Int>()
            let count = LongChainTests.links / 10
            let cancelled = Resolver<Int>(on: context).shared()
            let settled = Resolver<Int>(on: context).shared()
            weak var weakToken: Token?
            do {
                let token = Token()
                weakToken = token
                for number in 0..<count {
                    cancelled.onCancel { _ in journal.add(number) }
                    settled.onCancel { [token] _ in _ = token }
                }
            }
            #expect(weakToken != nil)
            settled.fulfill(1)
            #expect(weakToken == nil, "freed at once")
            cancelled.promise.cancel()
            context.drain()
            #expect(journal.entries == Array(0..<count))
        }
    }

    @Test func manyCancellationClosuresOnALocalContext() {
        onAnotherThread(stackBytes: 512 * 1024) {
            let context = ManualContext()
            LocalContext.run(on: context) { local in
                let journal = LocalJournal<Int>()
                let count = LongChainTests.links / 10
                let cancelled = LocalResolver<Int>(on: local)
                let settled = LocalResolver<Int>(on: local)
                for number in 0..<count {
                    cancelled.onCancel { _ in journal.add(number) }
                    settled.onCancel { _ in journal.add(number) }
                }
                settled.fulfill(1)
                cancelled.promise.cancel()
                context.drain()
                #expect(journal.entries == Array(0..<count))
                cancelled.fulfill(1)
            }
        }
    }
}
