import Promises
import Testing

@Suite(.timeLimit(.minutes(5))) struct EssentialsExamples {
    let context = ManualContext()
    let api: API

    init() { api = API(on: context) }

    @Test func landing() {
        let api = api
        // snippet: landing
        let caption = api.user(7)
            .adding { user in api.image(user.imageURL) }
            .map { user, image in "\(user.name) at \(image.url)" }
            .timeout(.seconds(2))
            .recover(only: NotFound.self) { _ in .value("unknown") }
        // end
        context.advance(by: .seconds(1))
        #expect(caption.value == "user7 at /7.png")
    }

    @Test func resolver() {
        // snippet: resolver
        func answer() -> Promise<Int> {
            let resolver = Resolver<Int>()  // the write side, not copyable
            let promise = resolver.promise  // the read side, for consumers
            resolver.fulfill(42)  // ends the resolver: a second call does not compile
            return promise
        }
        // end
        #expect(answer().value == 42)
    }

    @Test func callback() {
        let context = context
        func load(_ done: @escaping @Sendable (String?, (any Error)?) -> Void) {
            done("text", nil)
        }
        // snippet: callback
        func text() -> Promise<String> {
            let resolver = Resolver<String>(on: context).shared()
            load { text, error in
                if let text { resolver.fulfill(text) } else { resolver.reject(error ?? NotFound()) }
            }
            return resolver.promise
        }
        // end
        #expect(text().value == "text")
    }

    @Test func beginnings() async throws {
        let context = context
        // snippet: beginnings
        let known = Promise.value("here already")
        let failed = Promise<Int>.error(NotFound())
        let inline = Promise<Int>(on: context) { resolver in resolver.fulfill(1) }  // runs now
        let queued = Promise(on: context) { 6 * 7 }  // runs soon, on the context
        let awaited = Promise { "from a task" }  // async work
        // end
        context.drain()
        #expect(known.value == "here already")
        #expect(failed.error is NotFound)
        #expect(inline.value == 1)
        #expect(queued.value == 42)
        #expect(try await awaited.get() == "from a task")
    }

    @Test func chain() {
        let (api, journal) = (api, Journal<String>())
        // snippet: chain
        api.user(7)
            .map { user in user.imageURL }  // a value from a value
            .then { url in api.image(url) }  // a promise from a value
            .onValue { image in journal.add("got \(image.url)") }  // observes the value
            .done { image in journal.add("show \(image.url)") }  // handles the last value
            .catch { error in journal.add("failed: \(error)") }  // ends the chain
        // end
        context.advance(by: .seconds(1))
        #expect(journal.entries == ["got /7.png", "show /7.png"])
    }

    @Test func failing() {
        let (api, journal) = (api, Journal<String>())
        // snippet: failing
        let name = api.user(-1)
            .map { user in user.name }  // skipped
            .onFailure { error in journal.add("\(error)") }  // observes the error
            .recover(only: NotFound.self) { _ in .value("unknown") }  // recovers from one type
            .ensure { journal.add("done") }  // runs in every case
        // end
        context.advance(by: .seconds(1))
        #expect(name.value == "unknown")
        #expect(journal.entries == ["NotFound()", "done"])
    }

    @Test func combining() {
        let api = api
        // snippet: combining
        let users = all([1, 2, 3].map { api.user($0) })  // every value, or the first error
        let both = all(api.user(1), api.image("/logo.png"))  // of different types
        let some = any(["ada": api.user(1), "bob": api.user(-1)])  // waits for all, needs one value
        let first = race(api.user(1), api.user(2))  // the first value
        let settled = allSettled([api.user(1), api.user(-1)])  // every outcome, never an error
        // end
        context.advance(by: .seconds(1))
        #expect(users.value?.map(\.id) == [1, 2, 3])
        #expect(both.value?.1.url == "/logo.png")
        #expect(some.value?.values.keys.sorted() == ["ada"])
        #expect(some.value?.reasons["bob"] is NotFound)
        #expect(first.value?.id == 1)
        #expect(settled.promise.isPending)
        context.drain()
    }

    @Test func tasks() async throws {
        // snippet: async
        let answer = Promise { () async throws -> Int in 6 * 7 }  // async code in a promise
        let value = try await answer.map { $0 + 1 }.get()  // a promise in async code
        // end
        #expect(value == 43)
    }

    @Test func confined() {
        let context = context
        // snippet: local
        final class Counter {  // need not be Sendable
            var total = 0
        }

        let total = LocalContext.run(on: context) { local -> Promise<Int> in
            let counter = Counter()
            return local.value(2)
                .map { number in
                    counter.total += number
                    return counter.total
                }
                .shared  // for other threads
        }
        // end
        context.drain()
        #expect(total.value == 2)
    }
}
