import Basics
import Promises
import Reactor
import SimReactor
import Testing

@Suite(.timeLimit(.minutes(5))) struct ReadyQueueContractTests {
    /// A handler runs after the callback that settled its promise and before the next callback.
    @Test(arguments: Conformer.loops)
    func drainsTheReadyQueueAfterEachCallback(_ conformer: Conformer) throws {
        try onStage(conformer) { stage in
            var order: [String] = []
            for name in ["a", "b"] {
                stage.loop.timer(after: .milliseconds(1)) {
                    stage.loop.local.value(name)
                        .map { name in order.append("\(name) handler") }
                        .map { order.append("\(name) next handler") }
                        .catch { _ in }
                    order.append("\(name) callback")
                }
            }
            stage.later {
                #expect(
                    order == [
                        "a callback", "a handler", "a next handler",
                        "b callback", "b handler", "b next handler",
                    ])
                stage.finish()
            }
        }
    }

    @Test(arguments: Conformer.loops)
    func drainsTheReadyQueueAfterStreamEvents(_ conformer: Conformer) throws {
        try onStage(conformer) { stage in
            stage.peers { client, server in
                var handled: [String] = []
                server.onReceived = { server in
                    stage.loop.local.value(server.text).map { handled.append($0) }.catch { _ in }
                }
                server.onEnded = { _ in
                    #expect(handled.last == "hello")
                    stage.loop.local.value(()).map { stage.finish() }.catch { _ in }
                }
                client.send("hello")
                client.stream.finishWriting()
            }
        }
    }

    /// Promises that make each other for ever leave room for timers and sockets.
    @Test(arguments: Conformer.loopsInRealTime)
    func endlessChainDoesNotStarveTheLoop(_ conformer: Conformer) throws {
        try onStage(conformer) { stage in
            var isDone = false
            func again() {
                if !isDone { stage.loop.local.value(()).map { again() }.catch { _ in } }
            }
            stage.peers { client, server in
                again()
                server.onReceived = { _ in
                    isDone = true
                    stage.finish()
                }
                stage.loop.timer(after: .milliseconds(1)) { client.send("hello") }
            }
        }
    }

    @Test(arguments: Conformer.loops)
    func remainingJobsRunInTheNextIteration(_ conformer: Conformer) throws {
        try onStage(conformer) { stage in
            var count = 0
            for _ in 0..<20_000 {
                stage.loop.local.value(1).map { count += $0 }.catch { _ in }
            }
            func check() {
                if count == 20_000 { return stage.finish() }
                stage.loop.timer(after: .zero, check)
            }
            check()
        }
    }

    @Test(arguments: Conformer.loops)
    func promisesUseTheClockOfTheLoop(_ conformer: Conformer) throws {
        try onStage(conformer) { stage in
            let start = stage.loop.now
            let local = stage.loop.local
            let slow: LocalPromise<Int> = local.never()
            slow.timeout(.milliseconds(5)).whenSettled { result in
                #expect(throws: PromiseError.timedOut) { try result.get() }
                #expect(stage.loop.now - start >= .milliseconds(5))
                local.after(.milliseconds(2)).done {
                    #expect(stage.loop.now - start >= .milliseconds(7))
                    stage.finish()
                }
            }
        }
    }

    /// A time-out that is not needed any more leaves no timer behind.
    @Test(arguments: Conformer.loops)
    func unneededTimeoutIsCancelled(_ conformer: Conformer) throws {
        try onStage(conformer) { stage in
            stage.loop.local.value(1).timeout(.seconds(3600)).whenSettled { result in
                #expect((try? result.get()) == 1)
                stage.finish()
            }
        }
    }
}
