import Promises
import Testing

/// F118 to F123: what the gateway's own modules answer, or the standard library, or nobody.
@Suite struct OtherRows {
    let context = ManualContext()

    @Test("F118 F119: a fetch rejects with an error that has payloads; status 400 is an error")
    func fetch() throws {
        struct FetchError: Error, Equatable { let status: Int, bytes: Int }
        func fetch(answering status: Int) -> Promise<Int> {
            Promise.value(status, on: context)
                .onValue { if $0 >= 400 { throw FetchError(status: $0, bytes: 0) } }
        }
        let (good, bad) = (fetch(answering: 204), fetch(answering: 400))
        context.drain()
        #expect(good.value == 204)
        #expect(bad.error as? FetchError == FetchError(status: 400, bytes: 0))
    }

    @Test("F120: a path into a document is a map that may find nothing") func paths() {
        let document = ["a": ["b": 1]]
        let found = Promise.value(document, on: context).compactMap { $0["a"]?["b"] }
        let missing = Promise.value(document, on: context).compactMap { $0["x"]?["b"] }
        context.drain()
        #expect(found.value == 1)
        #expect(missing.error as? PromiseError == .noValue)
    }

    @Test("F121: the next event of many is a promise that is made anew") func nextEvent() {
        final class Watched {
            private let local: LocalContext
            private var resolvers: [LocalBox] = []
            init(_ local: LocalContext) { self.local = local }
            func next() -> LocalPromise<Int> {
                let boxed = LocalBox(local)
                resolvers.append(boxed)
                return boxed.promise
            }
            func send(_ event: Int) {
                let waiting = resolvers
                resolvers = []
                for one in waiting { one.fulfill(event) }
            }
        }
        LocalContext.run(on: context) { local in
            let watched = Watched(local)
            let (one, two) = (watched.next(), watched.next())
            watched.send(1)
            let three = watched.next()
            watched.send(2)
            #expect([one.value, two.value, three.value] == [1, 1, 2])
        }
    }

    @Test("F122: no lock around user code: a handler may use what called it") func noLocks() {
        let journal = Journal<String>()
        let resolver = Resolver<Int>(on: InlineContext.shared).shared()
        resolver.promise.whenSettled { _ in
            resolver.promise.whenSettled { _ in journal.add("attached inside") }
            resolver.fulfill(2)
            resolver.promise.cancel()
            journal.add("settled inside")
        }
        resolver.fulfill(1)
        #expect(journal.entries == ["settled inside", "attached inside"])
    }

    @Test("F123: a server hands its context to the first promise, and that is all") func server() {
        let context = context
        let place = Journal<Bool>()
        func handle(_ request: Promise<Int>) -> Promise<Int> {
            request.map { value in
                place.add(context.isCurrent)
                return value
            }.then { Promise.value($0 + 1) }.map { value in
                place.add(context.isCurrent)
                return value
            }
        }
        let reply = handle(.value(1, on: context))
        context.drain()
        #expect(reply.value == 2 && reply.context === context)
        #expect(place.entries == [true, true])
    }
}
