import Dispatch
import Promises
import PromisesDispatch
import Testing

/// Handlers belong to no task: they see neither the task-local values nor the priority of the task
/// that woke their context.
@Suite(.timeLimit(.minutes(5))) struct TaskIndependenceTests {
    enum Request { @TaskLocal static var id: String? }

    struct TaskValues: Sendable, Equatable {
        var id: String?
        var priority: TaskPriority
    }

    static func currentValues() -> TaskValues {
        TaskValues(id: Request.id, priority: Task.currentPriority)
    }

    @Test(arguments: [TimedContext.pool, .queue, .executor])
    func handlersDoNotInheritTheWakingTask(_ kind: TimedContext) async throws {
        try await kind.use { context in
            for priority in [TaskPriority.high, .background] {
                let seen = await Task.detached(priority: priority) {
                    Request.$id.withValue("A") {
                        #expect(TaskIndependenceTests.currentValues().id == "A")
                        return Promise.value(1, on: context).map { _ in
                            TaskIndependenceTests.currentValues()
                        }
                    }
                }.value
                let values = try await seen.get()
                #expect(values.id == nil)
                // A thread without a task, which runs handlers while threads wait, has no priority.
                let usual: [TaskPriority] = [.medium, TaskPriority(rawValue: 0)]
                if kind != .queue { #expect(usual.contains(values.priority)) }
            }
        }
    }

    @Test(arguments: [TimedContext.pool, .queue, .executor, .inline])
    func timersDoNotInheritTheSchedulingTask(_ kind: TimedContext) async {
        await kind.use { context in
            let seen = Request.$id.withValue("A") {
                after(.milliseconds(1), on: context).map {
                    TaskIndependenceTests.currentValues().id
                }
            }
            #expect(await seen.get() == nil)
        }
    }

    @Test("async work in a promise inherits its caller's task-local values")
    func asyncWorkInheritsItsCallersTaskLocals() async throws {
        let seen = Request.$id.withValue("A") {
            Promise { () async throws -> String? in Request.id }
        }
        #expect(try await seen.get() == "A")
    }
}

/// Actors run on serial contexts only.
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

    @Test func anActorOnInlineTrapsWithAMessage() async {
        let result = await #expect(
            processExitsWith: .failure, observing: [\.standardErrorContent]
        ) {
            await Counter(on: .inline).add()
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("an actor needs a context that runs one job at a time"))
    }

    @Test(arguments: [TimedContext.pool, .queue, .concurrentQueue, .executor, .loop])
    func anActorOnASerialContextIsIsolated(_ kind: TimedContext) async {
        await kind.use { context in
            let counter = Counter(on: context)
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<4 { group.addTask { for _ in 0..<500 { await counter.add() } } }
            }
            #expect(await counter.count == 2_000)
        }
    }

    @Test("a task may prefer .inline, which isolates nothing")
    func aTaskMayPreferInline() async throws {
        let value = try await Promise(on: .inline) { () async throws -> Int in
            await Task.yield()
            return 1
        }.get()
        #expect(value == 1)
    }
}
