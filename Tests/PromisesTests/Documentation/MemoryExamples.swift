import Promises
import Testing

@Suite struct MemoryExamples {
    let context = ManualContext()
    let api: API

    init() { api = API(on: context) }

    @Test func chainRunsWithoutAReference() {
        let (api, journal) = (api, Journal<String>())
        // snippet: no-reference
        func greet() {
            api.user(7).done { journal.add("hello \($0.name)") }.cauterize()
        }  // no reference to the chain is left; it still runs
        // end
        greet()
        context.advance(by: .seconds(1))
        #expect(journal.entries == ["hello user7"])
    }

    @Test func abandoned() {
        let context = context
        // snippet: abandoned
        let promise = {
            let resolver = Resolver<Int>(on: context)
            return resolver.promise
        }()  // the resolver is released, so the promise is rejected
        // end
        #expect(promise.error as? PromiseError == .abandoned)
    }

    @Test func weakOwner() {
        let api = api
        // snippet: weak-owner
        final class Page: Sendable {
            let titles = Journal<String>()

            func load(_ api: API) -> Promise<User> {
                api.user(7)
                    .with(weak: self)  // the chain does not keep the page alive
                    .onValue { page, user in page.titles.add(user.name) }
                    .promise
            }
        }
        // end
        var page: Page? = Page()
        let first = page?.load(api)
        let titles = page?.titles
        context.advance(by: .seconds(1))
        #expect(first?.value?.id == 7)
        #expect(titles?.entries == ["user7"])
        let second = page?.load(api)
        page = nil
        context.advance(by: .seconds(1))
        #expect(second?.error as? PromiseError == .contextDeallocated)
        #expect(titles?.entries == ["user7"])
    }

    @Test func storedResolver() {
        let context = context
        // snippet: stored-resolver
        final class Request {
            private var resolver: Resolver<String>?

            func start(on context: any ExecutionContext) -> Promise<String> {
                let resolver = Resolver<String>(on: context)
                let promise = resolver.promise
                self.resolver = consume resolver
                return promise
            }

            func receive(_ text: String) { resolver.take()?.fulfill(text) }
        }
        // end
        let request = Request()
        let answer = request.start(on: context)
        request.receive("yes")
        request.receive("again")
        #expect(answer.value == "yes")
    }
}
