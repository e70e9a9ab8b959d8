import Basics
import Reactor
import SimReactor
import Testing

@Suite(.timeLimit(.minutes(5))) struct TimerContractTests {
    @Test(arguments: Conformer.loops, [Duration.zero, .milliseconds(-5)])
    func zeroOrNegativeDelayFiresInTheNextIteration(_ conformer: Conformer, _ delay: Duration)
        throws
    {
        try onStage(conformer) { stage in
            var isInline = true
            stage.loop.timer(after: delay) {
                #expect(!isInline)
                stage.finish()
            }
            isInline = false
        }
    }

    @Test(arguments: Conformer.loops)
    func timersDueTogetherFireInOrderOfCreation(_ conformer: Conformer) throws {
        try onStage(conformer) { stage in
            var fired: [Int] = []
            for number in 1...5 {
                stage.loop.timer(after: .milliseconds(2)) { fired.append(number) }
            }
            stage.loop.timer(after: .milliseconds(5)) {
                #expect(fired == [1, 2, 3, 4, 5])
                stage.finish()
            }
        }
    }

    @Test(arguments: Conformer.loops)
    func earlierTimerFiresFirst(_ conformer: Conformer) throws {
        try onStage(conformer) { stage in
            var fired: [String] = []
            stage.loop.timer(after: .milliseconds(30)) {
                #expect(fired == ["soon", "later"])
                stage.finish()
            }
            stage.loop.timer(after: .milliseconds(15)) { fired.append("later") }
            stage.loop.timer(after: .milliseconds(1)) { fired.append("soon") }
        }
    }

    @Test(arguments: Conformer.loops)
    func neverFiresBeforeItsTime(_ conformer: Conformer) throws {
        try onStage(conformer) { stage in
            let delays = [1, 700, 1_300, 2_999, 5_000].map { Duration.microseconds($0) }
            var left = delays.count
            for delay in delays {
                let start = stage.loop.now
                stage.loop.timer(after: delay) {
                    #expect(stage.loop.now - start >= delay)
                    left -= 1
                    if left == 0 { stage.finish() }
                }
            }
        }
    }

    @Test(arguments: Conformer.loops)
    func cancelledTimerNeverFires(_ conformer: Conformer) throws {
        try onStage(conformer) { stage in
            let timer = stage.loop.timer(after: .milliseconds(1)) {
                Issue.record("fired although cancelled")
            }
            timer.cancel()
            #expect(!timer.isPending)
            stage.later { stage.finish() }
        }
    }

    @Test(arguments: Conformer.loops)
    func timerMayCancelAnotherDueAtTheSameTime(_ conformer: Conformer) throws {
        try onStage(conformer) { stage in
            var second: Timer?
            stage.loop.timer(after: .milliseconds(1)) { second?.cancel() }
            second = stage.loop.timer(after: .milliseconds(1)) {
                Issue.record("fired although cancelled")
            }
            stage.later { stage.finish() }
        }
    }

    /// A timer of zero that always makes the next one leaves room for the network.
    @Test(arguments: Conformer.loopsInRealTime)
    func zeroTimersDoNotStarveTheSockets(_ conformer: Conformer) throws {
        try onStage(conformer) { stage in
            var isDone = false
            func again() { if !isDone { stage.loop.timer(after: .zero, again) } }
            again()
            stage.peers { client, server in
                server.onReceived = { _ in
                    isDone = true
                    stage.finish()
                }
                client.send("hello")
            }
        }
    }

    @Test(arguments: Conformer.loops)
    func nowIsConstantDuringACallbackAndNeverDecreases(_ conformer: Conformer) throws {
        try onStage(conformer) { stage in
            let start = stage.loop.now
            stage.loop.timer(after: .milliseconds(2)) {
                let first = stage.loop.now
                var sum = 0
                for number in 0..<100_000 { sum &+= number }
                #expect(sum > 0 && stage.loop.now == first && first > start)
                stage.finish()
            }
        }
    }
}
