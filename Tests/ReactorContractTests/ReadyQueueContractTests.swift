import Basics
import Promises
import Reactor
import SimReactor
import Testing

@Suite(.timeLimit(.minutes(5))) struct ReadyQueueContractTests {
    /// A handler runs after the callback that settled its promise and before the next callback.
    @Test(arguments: Conformer.loops)
    func drainsTheReadyQueueAfterEachCallback(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            var order: [String] = []
            for name in ["a", "b"] {
                harness.loop.timer(after: .milliseconds(1)) {
                    harness.loop.local.value(name)
                        .map { name in order.append("\(name) handler") }
                        .map { order.append("\(name) next handler") }
                        .catch { _ in }
                    order.append("\(name) callback")
                }
            }
            harness.later {
                #expect(
                    order == [
                        "a callback", "a handler", "a next handler",
                        "b callback", "b handler", "b next handler",
                    ])
                harness.finish()
            }
        }
    }

    @Test(arguments: Conformer.loops)
    func drainsTheReadyQueueAfterStreamEvents(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            harness.peers { client, server in
                var handled: [String] = []
                server.onReceived = { server in
                    harness.loop.local.value(server.text).map { handled.append($0) }.catch { _ in }
                }
                server.onEnded = { _ in
                    #expect(handled.last == "hello")
                    harness.loop.local.value(()).map { harness.finish() }.catch { _ in }
                }
                client.send("hello")
                client.stream.finishWriting()
            }
        }
    }

    /// An endless chain of promises leaves time for timers and sockets.
    @Test(arguments: Conformer.loopsInRealTime)
    func endlessChainDoesNotStarveTheLoop(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            var isDone = false
            func again() {
                if !isDone { harness.loop.local.value(()).map { again() }.catch { _ in } }
            }
            harness.peers { client, server in
                again()
                server.onReceived = { _ in
                    isDone = true
                    harness.finish()
                }
                harness.loop.timer(after: .milliseconds(1)) { client.send("hello") }
            }
        }
    }

    @Test(arguments: Conformer.loops)
    func remainingJobsRunInTheNextIteration(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            var count = 0
            for _ in 0..<20_000 {
                harness.loop.local.value(1).map { count += $0 }.catch { _ in }
            }
            func check() {
                if count == 20_000 { return harness.finish() }
                harness.loop.timer(after: .zero, check)
            }
            check()
        }
    }

    @Test(arguments: Conformer.loops)
    func promisesUseTheClockOfTheLoop(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            let start = harness.loop.now
            let local = harness.loop.local
            let slow: LocalPromise<Int> = local.never()
            slow.timeout(.milliseconds(5)).whenSettled { result in
                #expect(throws: PromiseError.timedOut) { try result.get() }
                #expect(harness.loop.now - start >= .milliseconds(5))
                local.after(.milliseconds(2)).done {
                    #expect(harness.loop.now - start >= .milliseconds(7))
                    harness.finish()
                }.cauterize()
            }
        }
    }

    /// An unneeded timeout leaves no timer behind.
    @Test(arguments: Conformer.loops)
    func unneededTimeoutIsCancelled(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            harness.loop.local.value(1).timeout(.seconds(3600)).whenSettled { result in
                #expect((try? result.get()) == 1)
                harness.finish()
            }
        }
    }
}
