import Promises
import Testing

@Suite struct ComingFromExamples {
    let context = ManualContext()
    let api: API
    let journal = Journal<String>()

    init() { api = API(on: context) }

    @Test func promiseKit() {
        let (api, journal) = (api, journal)
        // snippet: from-promisekit
        // firstly { … }.then { … }.map { … }.done { … }.ensure { … }.catch { … }
        firstly { api.user(7) }
            .then { user in api.image(user.imageURL) }
            .map { image in image.url }
            .done { url in journal.add(url) }
            .ensure { journal.add("done") }
            .catch { error in journal.add("\(error)") }
        // end
        context.advance(by: .seconds(1))
        #expect(journal.entries == ["/7.png", "done"])
    }

    @Test func franticApparatus() {
        let (api, journal) = (api, journal)
        // snippet: from-frantic
        final class Page: Sendable {
            let shown: Journal<String>
            init(_ shown: Journal<String>) { self.shown = shown }

            // PromiseMaker.makeUsing(context: self) { makePromise in makePromise { … } … }
            func load(_ api: API) -> Promise<User> {
                api.user(7).with(weak: self)
                    .onValue { page, user in page.shown.add(user.name) }  // whenFulfilled
                    .onFailure { page, reason in page.shown.add("\(reason)") }  // whenRejected
                    .ensure { page in page.shown.add("complete") }  // whenComplete
                    .promise
            }
        }
        // end
        let page = Page(journal)
        let user = page.load(api)
        context.advance(by: .seconds(1))
        #expect(user.value?.id == 7)
        #expect(journal.entries == ["user7", "complete"])
    }

    @Test func franticAny() {
        let api = api
        // snippet: from-frantic-any
        let greeting = any(["ada": api.user(1), "bob": api.user(-1)])
            .map { result in
                let ada = try result.requiredValue(for: "ada")  // throws the error of "ada"
                return "\(ada.name), without \(result.reasons.keys.joined())"
            }
        // end
        context.advance(by: .seconds(1))
        #expect(greeting.value == "user1, without bob")
    }

    @Test func daisy() {
        let context = context
        // snippet: from-daisy
        final class Doubling: Work<Int, Int>, @unchecked Sendable {
            override func main(_ input: Int, _ resolver: consuming Resolver<Int>) {
                resolver.fulfill(input * 2)
            }
        }

        let pool = CancellationPool()
        let result = Doubling().start(with: 21, on: context, in: pool)
        // end
        context.drain()
        #expect(result.value == 42)
    }

    @Test func promis() {
        let (api, journal) = (api, journal)
        // snippet: from-promis
        api.user(7)
            .then { user in api.image(user.imageURL) }  // thenWithResult
            .onFailure { error in journal.add("\(error)") }  // onError
            .settled
            .done { outcome in  // finally
                switch outcome {
                case .success(let image): journal.add(image.url)
                case .failure(let error as Cancelled): journal.add("cancelled: \(error)")
                case .failure(let error): journal.add("failed: \(error)")
                }
            }
        // end
        context.advance(by: .seconds(1))
        #expect(journal.entries == ["/7.png"])
    }

    @Test func easyAsync() {
        let (api, journal) = (api, journal)
        // snippet: from-easyasync
        api.user(7)
            .then { user in api.image(user.imageURL).map { image in (user, image) } }  // &&&
            .done { user, image in journal.add("\(user.name) \(image.url)") }
            .recover(only: NotFound.self) { _ in .value(()) }  // rescue { (e: NotFound) in … }
            .catch { error in journal.add("\(error)") }  // rescue { reason in … }
        // end
        context.advance(by: .seconds(1))
        #expect(journal.entries == ["user7 /7.png"])
    }
}
