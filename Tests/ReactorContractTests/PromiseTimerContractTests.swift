import Promises
import Reactor
import SimReactor
import Testing

/// The time operators on the loops, beside other consumers of the same promise.
@Suite(.timeLimit(.minutes(5))) struct PromiseTimerContractTests {
    @Test(arguments: Conformer.loops)
    func timeOperatorsKeepTheOrderOfOtherConsumers(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            let local = harness.loop.local
            let source = local.after(.milliseconds(4)).map { 10 }
            var order: [String] = []
            source.whenSettled { _ in order.append("before") }
            let late = source.timeout(.milliseconds(1))
            source.whenSettled { _ in order.append("between") }
            let padded = source.atLeast(.milliseconds(1)).atLeast(.milliseconds(6))
            source.whenSettled { _ in order.append("behind") }
            padded.whenSettled { result in
                #expect(order == ["before", "between", "behind"])
                #expect(late.error as? PromiseError == .timedOut)
                #expect((try? result.get()) == 10)
                harness.finish()
            }
        }
    }

    @Test(arguments: Conformer.loops)
    func outcomeAndTimerMayComeInTheSameIteration(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            let local = harness.loop.local
            let source = local.after(.milliseconds(2)).map { 10 }
            let limited = source.timeout(.milliseconds(2))
            let padded = source.atLeast(.milliseconds(2))
            let other = source.map { $0 + 1 }
            local.allSettled([limited, padded, other]).done { outcomes in
                #expect((try? outcomes[1].get()) == 10)
                #expect((try? outcomes[2].get()) == 11)
                harness.finish()
            }.cauterize()
        }
    }

    @Test(arguments: Conformer.loops)
    func acceptsAnyDuration(_ conformer: Conformer) throws {
        try onLoop(conformer) { harness in
            let local = harness.loop.local
            let never = local.never(as: Int.self)
            let far = [Duration.seconds(Int64.max), .seconds(Int64.max) * 8].map {
                never.timeout($0)
            }
            let soon = [Duration.zero, .seconds(Int64.min) * 8].map { never.timeout($0) }
            harness.loop.timer(after: .milliseconds(5)) {
                #expect(far.allSatisfy { $0.isPending })
                #expect(soon.allSatisfy { $0.error as? PromiseError == .timedOut })
                far.forEach { $0.cancel() }
                harness.finish()
            }
        }
    }
}
