import Promises
import Testing

/// Handlers that are isolated to the main actor and belong to an owner.
@Suite(.timeLimit(.minutes(5))) struct MainActorBoundTests {
    @MainActor final class Model {
        var entries: [String] = []
        nonisolated init() {}
    }

    @Test func theOwnerIsPassedToEachHandler() async throws {
        let model = Model()
        let end = Promise.value(1).onMainActor.with(weak: model)
            .map { model, value in
                model.entries.append("map")
                return value + 1
            }
            .then { model, value in
                model.entries.append("then")
                return Promise.value(value * 2)
            }
            .then { model, value in
                model.entries.append("guarantee")
                return Guarantee.value(value)
            }
            .compactMap { model, value in
                model.entries.append("compactMap")
                return value > 0 ? value : nil
            }
            .validate { model, value in
                model.entries.append("validate")
                return value == 4
            }
            .onValue { model, value in model.entries.append("\(value)") }
            .ensure { model in model.entries.append("ensure") }
            .done { model, _ in throw Failure("done") }
            .onFailure { model, _ in model.entries.append("onFailure") }
            .recover { model, _ in
                model.entries.append("recover")
                return .value(())
            }
            .map { _, _ -> Int in throw Failure("end") }
        await end.catch { model, _ in model.entries.append("catch") }.get()
        let entries = await model.entries
        #expect(
            entries == [
                "map", "then", "guarantee", "compactMap", "validate", "4", "ensure", "onFailure",
                "recover", "catch",
            ])
    }

    @Test func withoutTheOwnerNoHandlerRuns() async {
        let calls = Journal<String>()
        let resolver = Resolver<Int>()
        let bound: MainActorBound<Model, Int>
        do {
            let model = Model()
            bound = resolver.promise.onMainActor.with(weak: model)
        }
        let links = [
            bound.map { _, value in
                calls.add("map")
                return value
            },
            bound.onFailure { _, _ in calls.add("onFailure") }.onValue { _, _ in calls.add("value")
            },
            bound.ensure { _ in calls.add("ensure") },
        ]
        let caught = bound.map { _, value in value }.catch { _, _ in calls.add("catch") }
        resolver.fulfill(1)
        for link in links {
            await #expect(throws: PromiseError.contextDeallocated) {
                try await link.promise.promise.get()
            }
        }
        await caught.get()
        #expect(calls.entries == [])
    }
}
