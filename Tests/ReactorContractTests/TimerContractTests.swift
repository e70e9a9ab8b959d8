import Basics
import Reactor
import SimReactor
import Testing

@Suite(.timeLimit(.minutes(5))) struct TimerContractTests {
    @Test(arguments: Conformer.loops, [Duration.zero, .milliseconds(-5)])
    func zeroOrNegativeDelayFiresInTheNextIteration(_ conformer: Conformer, _ delay: Duration)
        throws
    {
        try onLoop(conformer) { harness in
            var isInline = true
            harness.loop.timer(after: delay) {
                #expect(!isInline)
                harness.finish()
            }
            isInline = false
        }
    }

    @Test(arguments: Conformer.loops)
    func timersDueTogetherFireInOrderOfCreation(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            var fired: [Int] = []
            for number in 1...5 {
                harness.loop.timer(after: .milliseconds(2)) { fired.append(number) }
            }
            harness.loop.timer(after: .milliseconds(5)) {
                #expect(fired == [1, 2, 3, 4, 5])
                harness.finish()
            }
        }
    }

    @Test(arguments: Conformer.loops)
    func earlierTimerFiresFirst(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            var fired: [String] = []
            harness.loop.timer(after: .milliseconds(30)) {
                #expect(fired == ["soon", "later"])
                harness.finish()
            }
            harness.loop.timer(after: .milliseconds(15)) { fired.append("later") }
            harness.loop.timer(after: .milliseconds(1)) { fired.append("soon") }
        }
    }

    @Test(arguments: Conformer.loops)
    func neverFiresBeforeItsTime(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            let delays = [1, 700, 1_300, 2_999, 5_000].map { Duration.microseconds($0) }
            var left = delays.count
            for delay in delays {
                let start = harness.loop.now
                harness.loop.timer(after: delay) {
                    #expect(harness.loop.now - start >= delay)
                    left -= 1
                    if left == 0 { harness.finish() }
                }
            }
        }
    }

    @Test(arguments: Conformer.loops)
    func cancelledTimerNeverFires(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            let timer = harness.loop.timer(after: .milliseconds(1)) {
                Issue.record("fired although cancelled")
            }
            timer.cancel()
            #expect(!timer.isPending)
            harness.later { harness.finish() }
        }
    }

    @Test(arguments: Conformer.loops)
    func timerMayCancelAnotherDueAtTheSameTime(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            var second: Timer?
            harness.loop.timer(after: .milliseconds(1)) { second?.cancel() }
            second = harness.loop.timer(after: .milliseconds(1)) {
                Issue.record("fired although cancelled")
            }
            harness.later { harness.finish() }
        }
    }

    /// An endless chain of zero timers leaves time for the network.
    @Test(arguments: Conformer.loopsInRealTime)
    func zeroTimersDoNotStarveTheSockets(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            var isDone = false
            func again() { if !isDone { harness.loop.timer(after: .zero, again) } }
            again()
            harness.peers { client, server in
                server.onReceived = { _ in
                    isDone = true
                    harness.finish()
                }
                client.send("hello")
            }
        }
    }

    @Test(arguments: Conformer.loops)
    func nowIsConstantDuringACallbackAndNeverDecreases(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            let start = harness.loop.now
            harness.loop.timer(after: .milliseconds(2)) {
                let first = harness.loop.now
                var sum = 0
                for number in 0..<100_000 { sum &+= number }
                #expect(sum > 0 && harness.loop.now == first && first > start)
                harness.finish()
            }
        }
    }
}
