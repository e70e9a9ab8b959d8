import Promises
import Synchronization
import Testing

@Suite struct CancellationExamples {
    let context = ManualContext()
    let api: API

    init() { api = API(on: context) }

    @Test func producer() {
        let (context, journal) = (context, Journal<String>())
        // snippet: on-cancel
        func download() -> Promise<Int> {
            let resolver = Resolver<Int>(on: context).shared()
            let connection = Connection { resolver.fulfill($0) }
            // Weakly: the connection holds the resolver, and the promise this closure.
            resolver.onCancel { [weak connection] _ in connection?.close() }
            return resolver.promise
        }

        let size = download().map { $0 / 1024 }
        size.cancel()  // cancels the map and its source, which closes the connection
        // end
        context.drain()
        journal.add("\(Connection.closed.entries.count)")
        #expect(size.error is Cancelled)
        #expect(journal.entries == ["1"])
        #expect(Connection.freed.entries.count == 1)
    }

    /// A connection that never answers, and is kept while it is open; records its end.
    private final class Connection: Sendable {
        static let open = Mutex<[Connection]>([])
        static let closed = Journal<Int>()
        static let freed = Journal<Int>()
        let answer: @Sendable (Int) -> Void

        init(_ answer: @escaping @Sendable (Int) -> Void) {
            self.answer = answer
            Connection.open.withLock { $0.append(self) }
        }

        deinit { Connection.freed.add(1) }

        func close() {
            Connection.closed.add(1)
            _ = Connection.open.withLock { open in
                let closed = open
                open = []
                return closed
            }
        }
    }

    @Test func counting() {
        let api = api
        // snippet: counting
        let image = api.neverAnswers()
        let small = image.map { "small \($0.url)" }
        let large = image.map { "large \($0.url)" }

        small.cancel()  // `large` still needs the image: the work goes on
        let goesOn = image.isPending
        large.cancel()  // no consumer is left: the work stops
        // end
        context.drain()
        #expect(goesOn)
        #expect(image.error is Cancelled)
        #expect(api.requests.entries == ["stopped"])
    }

    @Test func shielded() {
        let api = api
        // snippet: shielded
        let image = api.neverAnswers()
        image.shielded().cancel()  // only this reader withdraws
        // end
        context.drain()
        #expect(image.isPending)
        #expect(api.requests.entries.isEmpty)
        image.cancel()
    }

    @Test func scope() {
        let api = api
        // snippet: scope
        func loadInScope() {
            let image = PromiseScope(api.neverAnswers())
            _ = image.promise.map { $0.url }
        }  // the scope ends here, and cancels
        // end
        loadInScope()
        context.drain()
        #expect(api.requests.entries == ["stopped"])
    }

    @Test func pool() {
        let api = api
        // snippet: pool
        let pool = CancellationPool()
        let first = api.neverAnswers().cancelling(with: pool)
        let second = api.neverAnswers().cancelling(with: pool)
        pool.drain(because: NotFound())  // cancels both, and everything that is added later
        // end
        context.drain()
        #expect(first.error is Cancelled && second.error is Cancelled)
        #expect((first.error as? Cancelled)?.cause is NotFound)
    }

    @Test func policy() {
        let (api, journal) = (api, Journal<String>())
        // snippet: policy
        let image = api.neverAnswers()
        image.catch { _ in journal.add("not called") }.done { journal.add("called at the end") }
        image.catch(policy: .allErrors) { _ in journal.add("called") }
        image.cancel()
        // end
        context.drain()
        #expect(journal.entries == ["called", "called at the end"])
    }
}
