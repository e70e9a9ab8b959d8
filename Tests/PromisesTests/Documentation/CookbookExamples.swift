import Promises
import Testing

/// The patterns of PromiseKit's cookbook, in its order.
@Suite(.timeLimit(.minutes(5))) struct CookbookExamples {
    let context = ManualContext()
    let api: API
    let journal = Journal<String>()

    init() { api = API(on: context) }

    @Test func chaining() {
        let (api, journal) = (api, journal)
        // snippet: chaining
        firstly {
            api.user(7)
        }.then { user in
            api.image(user.imageURL)
        }.done { image in
            journal.add("show \(image.url)")
        }.ensure {
            journal.add("stop the spinner")
        }.catch { error in
            journal.add("failed: \(error)")
        }
        // end
        context.advance(by: .seconds(1))
        #expect(journal.entries == ["show /7.png", "stop the spinner"])
    }

    @Test func apis() {
        let context = context
        // snippet: apis
        struct Profiles: Sendable {
            let api: API

            func name(_ id: Int) -> Promise<String> {
                api.user(id).map { $0.name }.validate { !$0.isEmpty }
            }

            func avatar(_ id: Int) -> Promise<Image> {
                api.user(id).then { api.image($0.imageURL) }
            }
        }
        // end
        let profiles = Profiles(api: api)
        let (name, avatar) = (profiles.name(7), profiles.avatar(7))
        context.advance(by: .seconds(1))
        #expect(name.value == "user7")
        #expect(avatar.value?.url == "/7.png")
    }

    @Test func background() async throws {
        let context = context
        // snippet: background
        let workers = SharedPool.shared  // or a context of your own
        let digest = Promise.value([3, 1, 2], on: context)
            .map(on: workers) { $0.sorted() }  // long work on another context
            .hop(to: context)  // the following handlers run on `context`
            .map { "\($0)" }
        // end
        while digest.isPending {
            await Task.yield()
            context.claim()
            context.drain()
        }
        #expect(digest.value == "[1, 2, 3]")
    }

    @Test func failing() {
        let (api, journal) = (api, journal)
        // snippet: failing-chains
        struct TooShort: Error {}

        api.user(7)
            .map { user in
                guard user.name.count > 10 else { throw TooShort() }
                return user.name
            }
            .done { journal.add($0) }  // skipped
            .catch { journal.add("\($0)") }  // TooShort()
        // end
        context.advance(by: .seconds(1))
        #expect(journal.entries == ["TooShort()"])
    }

    @Test func abstracting() {
        let api = api
        // snippet: abstracting
        final class Directory: Sendable {
            private let fetches = Coalescer<Int, User>()
            private let api: API
            init(_ api: API) { self.api = api }

            /// One fetch at a time: concurrent callers share its outcome.
            func user(_ id: Int) -> Promise<User> {
                fetches.value(for: id, on: api.context) { api.user(id) }
            }
        }
        // end
        let directory = Directory(api)
        let (one, two) = (directory.user(7), directory.user(7))
        context.advance(by: .seconds(1))
        #expect(one.value == two.value && one.value?.id == 7)
        #expect(api.requests.entries == ["user 7"])
        let three = directory.user(7)
        context.advance(by: .seconds(1))
        #expect(three.value?.id == 7)
        #expect(api.requests.entries == ["user 7", "user 7"])
    }

    @Test func sequences() {
        let (api, context) = (api, context)
        // snippet: sequences
        let oneByOne = sequence([1, 2, 3], on: context) { api.user($0) }
        let twoAtATime = all([1, 2, 3], concurrently: 2, on: context) { api.user($0) }
        let atOnce = all([1, 2, 3].map { api.user($0) })
        // end
        context.advance(by: .seconds(1))
        for users in [oneByOne, twoAtATime, atOnce] {
            #expect(users.value?.map(\.id) == [1, 2, 3])
        }
    }

    @Test func timeout() {
        let api = api
        // snippet: timeout
        let images = all([api.image("/1.png"), api.neverAnswers()])
            .timeout(.seconds(4))  // rejects with .timedOut and withdraws from the work
        // end
        context.advance(by: .seconds(3))
        #expect(images.isPending)
        context.advance(by: .seconds(1))
        #expect(images.error as? PromiseError == .timedOut)
        #expect(api.requests.entries.last == "stopped")
    }

    @Test func minimumDuration() {
        let (api, journal) = (api, journal)
        // snippet: minimum-duration
        journal.add("spinner on")
        api.user(7)
            .atLeast(.milliseconds(300))  // counted from here; errors pass at once
            .ensure { journal.add("spinner off") }
            .done { journal.add("hello \($0.name)") }
            .cauterize()
        // end
        context.advance(by: .milliseconds(299))
        #expect(journal.entries == ["spinner on"])
        context.advance(by: .milliseconds(1))
        #expect(journal.entries == ["spinner on", "spinner off", "hello user7"])
    }

    @Test func cancellation() {
        let (api, journal) = (api, journal)
        // snippet: cancellation
        let image = api.neverAnswers()
        image.catch(policy: .allErrors) { error in
            journal.add(error is Cancelled ? "stopped" : "failed")
        }
        image.cancel()  // rejects the promise and notifies its producer
        // end
        context.drain()
        #expect(journal.entries == ["stopped"])
        #expect(api.requests.entries == ["stopped"])
    }

    @Test func retrying() {
        let (api, context) = (api, context)
        // snippet: retry
        let policy = RetryPolicy(maximumAttempts: 3) { _ in
            .seconds(2)
        } shouldRetry: { error, _ in
            error is NotFound
        }
        let user = retry(policy, on: context) { attempt in
            api.user(attempt == 3 ? 7 : -1)
        }
        // end
        context.advance(by: .seconds(3))
        #expect(user.isPending)
        context.advance(by: .seconds(2))
        #expect(user.value?.id == 7)
        #expect(api.requests.entries == ["user -1", "user -1", "user 7"])
    }

    @Test func polling() {
        let context = context
        let count = Journal<Int>()
        let status: @Sendable () -> Promise<String> = {
            count.add(1)
            return .value(count.entries.count < 3 ? "running" : "done", on: context)
        }
        // snippet: poll
        let end = poll(every: .seconds(1), on: context) {
            $0 == "done"
        } _: {
            status()
        }
        // end
        context.advance(by: .seconds(2))
        #expect(end.value == "done")
        #expect(count.entries.count == 3)
    }

    @Test func delegates() {
        let context = context
        // snippet: delegates
        final class OneLocation: LocationDelegate {
            private let resolver: SharedResolver<String>
            var promise: Promise<String> { resolver.promise }

            init(_ manager: LocationManager, on context: any ExecutionContext) {
                resolver = Resolver<String>(on: context).shared()
                manager.delegate = self  // a weak reference
                promise.whenSettled { _ in withExtendedLifetime(self) {} }  // until it is settled
            }

            func didFind(_ location: String) { resolver.fulfill(location) }
            func didFail(_ error: any Error) { resolver.reject(error) }
        }
        // end
        let manager = LocationManager()
        let promise = OneLocation(manager, on: context).promise
        manager.delegate?.didFind("here")
        context.drain()
        #expect(promise.value == "here")
        #expect(manager.delegate == nil)
    }

    private protocol LocationDelegate: AnyObject, Sendable {
        func didFind(_ location: String)
        func didFail(_ error: any Error)
    }

    private final class LocationManager {
        weak var delegate: (any LocationDelegate)?
    }

    @Test func recovery() {
        let api = api
        // snippet: recovery
        let user = api.user(-1)
            .recover { error in
                guard error is NotFound else { throw error }
                return api.user(1)
            }
        let name = api.user(-1).map { $0.name }.replaceError(with: "unknown")
        // end
        context.advance(by: .seconds(1))
        #expect(user.value?.id == 1)
        #expect(name.value == "unknown")
    }

    @Test func modal() {
        let (context, journal) = (context, journal)
        // snippet: modal
        final class Question {
            private var resolver: Resolver<Bool>?

            func ask(on context: any ExecutionContext) -> Promise<Bool> {
                let resolver = Resolver<Bool>(on: context)
                let answer = resolver.promise
                self.resolver = consume resolver
                return answer
            }

            func buttonPressed(yes: Bool) { resolver.take()?.fulfill(yes) }
        }

        let question = Question()
        question.ask(on: context).done { journal.add($0 ? "yes" : "no") }.cauterize()
        question.buttonPressed(yes: true)
        // end
        context.drain()
        #expect(journal.entries == ["yes"])
    }

    @Test func savingResults() {
        let (api, journal) = (api, journal)
        // snippet: saving-results
        api.user(7)
            .adding { user in api.image(user.imageURL) }
            .done { user, image in journal.add("\(user.name) \(image.url)") }
            .cauterize()
        // end
        context.advance(by: .seconds(1))
        #expect(journal.entries == ["user7 /7.png"])
    }

    @Test func whateverTheResult() {
        let (api, journal) = (api, journal)
        // snippet: whatever-the-result
        allSettled([api.user(1), api.user(-1)]).done { results in
            for result in results {
                switch result {
                case .success(let user): journal.add(user.name)
                case .failure(let error): journal.add("\(error)")
                }
            }
        }
        // end
        context.advance(by: .seconds(1))
        #expect(journal.entries == ["user1", "NotFound()"])
    }
}
