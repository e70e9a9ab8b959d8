import Promises
import Testing

/// F118 to F123: features of the gateway's other modules, of the standard library, or dropped ones.
@Suite struct OtherRows {
    let context = ManualContext()

    @Test("F118 F119: a handler rejects with an error that has payloads for status 400")
    func aHandlerMayThrowForAStatus() throws {
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

    @Test("F120: compactMap reads a path that may be missing") func compactMapReadsADocumentPath() {
        let document = ["a": ["b": 1]]
        let found = Promise.value(document, on: context).compactMap { $0["a"]?["b"] }
        let missing = Promise.value(document, on: context).compactMap { $0["x"]?["b"] }
        context.drain()
        #expect(found.value == 1)
        #expect(missing.error as? PromiseError == .noValue)
    }

    @Test("F121: each event is a new promise") func eachEventIsANewPromise() {
        final class Watched {
            private let local: LocalContext
            private var resolvers: [LocalResolverBox] = []
            init(_ local: LocalContext) { self.local = local }
            func next() -> LocalPromise<Int> {
                let boxed = LocalResolverBox(local)
                resolvers.append(boxed)
                return boxed.promise
            }
            func send(_ event: Int) {
                let pending = resolvers
                resolvers = []
                for one in pending { one.fulfill(event) }
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

    @Test("F122: no lock is held around user code: a handler may use its own promise")
    func aHandlerMayUseItsOwnPromise() {
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

    @Test("F123: links inherit the context of a server's first promise")
    func linksInheritTheServersContext() {
        let context = context
        let isOnContext = Journal<Bool>()
        func handle(_ request: Promise<Int>) -> Promise<Int> {
            request.map { value in
                isOnContext.add(context.isCurrent)
                return value
            }.then { Promise.value($0 + 1) }.map { value in
                isOnContext.add(context.isCurrent)
                return value
            }
        }
        let response = handle(.value(1, on: context))
        context.drain()
        #expect(response.value == 2 && response.context === context)
        #expect(isOnContext.entries == [true, true])
    }
}
