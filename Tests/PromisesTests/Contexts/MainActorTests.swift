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
