import Promises
import Testing

/// Handlers that are isolated to the main actor.
@Suite(.timeLimit(.minutes(5))) struct MainActorTests {
    /// State that only the main actor may use.
    @MainActor final class Model {
        var entries: [String] = []
        nonisolated init() {}
    }

    @Test func handlersMayUseMainActorState() async throws {
        let model = Model()
        let end = Promise.value(1).onMainActor
            .map { value in
                model.entries.append("map")
                return value + 1
            }
            .then { value in
                model.entries.append("then")
                return Promise.value(value * 2)
            }
            .compactMap { value in
                model.entries.append("compactMap")
                return value > 0 ? value : nil
            }
            .validate { value in
                model.entries.append("validate")
                return value == 4
            }
            .onValue { model.entries.append("\($0)") }
            .ensure { model.entries.append("ensure") }
        #expect(try await end.promise.get() == 4)
        let entries = await model.entries
        #expect(entries == ["map", "then", "compactMap", "validate", "4", "ensure"])
    }

    @Test func errorsReachHandlersOnTheMainActor() async throws {
        let model = Model()
        let promise = Promise<Int>.error(Failure("x")).onMainActor
            .onFailure { error in model.entries.append("onFailure") }
            .recover { error in
                model.entries.append("recover")
                return .value(3)
            }
        #expect(try await promise.promise.get() == 3)
        await Promise<Int>.error(Failure("y")).onMainActor
            .done { _ in model.entries.append("done") }
            .catch { _ in model.entries.append("catch") }
            .get()
        #expect(await model.entries == ["onFailure", "recover", "catch"])
    }

    @Test func handlersRunInOrderOneAtATime() async throws {
        let model = Model()
        let ends = (0..<200).map { number in
            Promise.value(number).onMainActor.done { model.entries.append("\($0)") }.promise
        }
        _ = try await all(ends).get()
        #expect(await model.entries == (0..<200).map { "\($0)" })
    }

    @Test func otherHandlersKeepTheirContext() async throws {
        let promise = Promise.value(1)
        let (here, there) = (promise.map { $0 }, promise.onMainActor.map { $0 }.promise)
        #expect(here.context === SharedPool.shared)
        #expect(there.context === MainActorContext.shared)
        _ = try await (here.get(), there.get())
    }

    @Test func cancellingWithdrawsFromTheWork() async {
        let resolver = Resolver<Int>().shared()
        let next = resolver.promise.onMainActor.map { $0 }
        next.promise.cancel()
        #expect(resolver.isCancelled)
    }

    @Test("another thread that cancels does not release what a handler owns")
    func handlersAreReleasedOnTheMainActor() async throws {
        let released = Journal<Bool>()
        let promises = await MainActor.run {
            (0..<100).flatMap { _ in Self.everyOperator(on: .never(), released) }
        }
        onAnotherThread { for promise in promises { promise.cancel() } }
        // One turn, and the jobs that it has made ready.
        for _ in 0..<2 { _ = try await Promise.value(1).onMainActor.map { $0 }.promise.get() }
        #expect(released.entries.count { $0 } == 100 * 9)
    }

    @Test("what a handler owns is released with its turn, whether it runs or not")
    func skippedHandlersAreReleased() async throws {
        let released = Journal<Bool>()
        for source in [Promise.value(1), .error(Failure("x"))] {
            let promises = await MainActor.run { Self.everyOperator(on: source, released) }
            for promise in promises { _ = await promise.settled.get() }
        }
        _ = try await Promise.value(1).onMainActor.map { $0 }.promise.get()
        #expect(released.entries.count { $0 } == 2 * 9)
    }

    /// Reports whether it is freed in a turn of the main actor.
    private final class View {
        private let released: Journal<Bool>
        init(_ released: Journal<Bool>) { self.released = released }
        deinit { released.add(MainActorContext.shared.isCurrent) }
        func use() {}
    }

    /// One promise for each operator, whose handler owns a view.
    @MainActor private static func everyOperator(
        on promise: Promise<Int>, _ released: Journal<Bool>
    ) -> [Promise<Void>] {
        let source = promise.onMainActor
        let views = (0..<9).map { _ in View(released) }
        let (a, b, c, d, e) = (views[0], views[1], views[2], views[3], views[4])
        let (f, g, h, i) = (views[5], views[6], views[7], views[8])
        return [
            source.then { _ in
                a.use()
                return Promise.value(1)
            }.promise.asVoid(),
            source.map { _ in b.use() }.promise.asVoid(),
            source.compactMap { _ -> Int? in
                c.use()
                return 1
            }.promise.asVoid(),
            source.validate { _ in
                d.use()
                return true
            }.promise.asVoid(),
            source.onValue { _ in e.use() }.promise.asVoid(),
            source.done { _ in f.use() }.promise.asVoid(),
            source.onFailure { _ in g.use() }.promise.asVoid(),
            source.recover { _ in
                h.use()
                return .value(1)
            }.promise.asVoid(),
            source.ensure { i.use() }.promise.asVoid(),
        ]
    }

    @Test func waitInAHandlerThrows() async throws {
        let error = try await Promise.value(1).onMainActor.map { _ -> PromiseError? in
            do {
                _ = try Promise<Int>.never(on: .mainActor).wait(for: .seconds(5))
                return nil
            } catch {
                return error as? PromiseError
            }
        }.promise.get()
        #expect(error == .waitOnOwnContext)
    }
}
