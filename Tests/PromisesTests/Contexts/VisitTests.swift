import Dispatch
import Promises
import PromisesDispatch
import Testing

/// Handlers run in nobody's task: they see neither the task-local values nor the priority of the
/// task that happened to wake their context.
@Suite(.timeLimit(.minutes(5))) struct VisitTests {
    enum Request { @TaskLocal static var id: String? }

    struct Sight: Sendable, Equatable {
        var id: String?
        var priority: TaskPriority
    }

    static func look() -> Sight { Sight(id: Request.id, priority: Task.currentPriority) }

    @Test(arguments: [TimedPlace.pool, .queue, .executor])
    func handlersSeeNothingOfWhoWokeTheContext(_ place: TimedPlace) async throws {
        try await place.use { context in
            for priority in [TaskPriority.high, .background] {
                let seen = await Task.detached(priority: priority) {
                    Request.$id.withValue("A") {
                        #expect(VisitTests.look().id == "A")
                        return Promise.value(1, on: context).map { _ in VisitTests.look() }
                    }
                }.value
                let sight = try await seen.get()
                #expect(sight.id == nil)
                if place != .queue { #expect(sight.priority == .medium) }
            }
        }
    }

    @Test(arguments: [TimedPlace.pool, .queue, .executor, .inline])
    func timersSeeNothingOfWhoSetThem(_ place: TimedPlace) async {
        await place.use { context in
            let seen = Request.$id.withValue("A") {
                after(.milliseconds(1), on: context).map { VisitTests.look().id }
            }
            #expect(await seen.get() == nil)
        }
    }

    @Test("async work in a promise is begun by its caller, and has what the caller has")
    func asyncWorkHasItsCallersValues() async throws {
        let seen = Request.$id.withValue("A") {
            Promise { () async throws -> String? in Request.id }
        }
        #expect(try await seen.get() == "A")
    }
}

/// Actors are put on contexts that run one job at a time, and on no others.
@Suite(.timeLimit(.minutes(5))) struct ActorContextTests {
    actor Counter {
        private let executor: ContextExecutor
        nonisolated var unownedExecutor: UnownedSerialExecutor {
            executor.asUnownedSerialExecutor()
        }
        private(set) var count = 0

        init(on context: any ExecutionContext) { executor = ContextExecutor(context) }

        func add() { count += 1 }
    }

    @Test func anActorOnInlineTrapsWithAReason() async {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            await Counter(on: .inline).add()
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("an actor needs a context that runs one job at a time"))
    }

    @Test(arguments: [TimedPlace.pool, .queue, .concurrentQueue, .executor, .loop])
    func anActorOnAnOrderlyContextIsIsolated(_ place: TimedPlace) async {
        await place.use { context in
            let counter = Counter(on: context)
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<4 { group.addTask { for _ in 0..<500 { await counter.add() } } }
            }
            #expect(await counter.count == 2_000)
        }
    }

    @Test("a task may prefer .inline: it is not isolated, and need not be")
    func aTaskOnInline() async throws {
        let value = try await Promise(on: .inline) { () async throws -> Int in
            await Task.yield()
            return 1
        }.get()
        #expect(value == 1)
    }
}
