import Foundation
import Testing

@testable import Promises

/// What one operation costs does not depend on the number of other consumers and observers.
@Suite(.timeLimit(.minutes(5))) struct CostOfManyConsumersTests {
    let context = ManualContext()
    static let others = 4_000

    /// What may make a withdrawal expensive: nodes that stay on the waiter stack, and withdrawals
    /// that leave no node there.
    enum Others: CaseIterable { case consumers, observers, phantoms }

    @Test("the waiters are swept once per so many withdrawals", arguments: Others.allCases)
    func sweepsAreRare(_ others: Others) {
        let resolver = Resolver<Int>(on: context).shared()
        let promise = resolver.promise
        let kept = promise.map { $0 }
        var links: [Promise<Int>] = []
        for _ in 0..<Self.others {
            switch others {
            case .consumers, .phantoms: links.append(promise.map { $0 })
            case .observers: promise.whenSettled { _ in }
            }
        }
        var sweeps = 0
        var former = withdrawals(promise)
        for _ in 0..<Self.others * 2 {
            switch others {
            case .consumers, .observers: promise.map { $0 }.cancel()
            case .phantoms: withdrawWithoutANode(from: promise)
            }
            let count = withdrawals(promise)
            if count < former { sweeps += 1 }
            former = count
        }
        #expect((1...4).contains(sweeps))
        resolver.fulfill(1)
        context.drain()
        #expect(kept.value == 1 && links.allSatisfy { $0.value == 1 })
    }

    /// The counter that a sweep resets.
    private func withdrawals(_ promise: Promise<Int>) -> Int {
        Int(bitPattern: promise.node.control.bits) >> 35
    }

    /// A chain that is cancelled while its handler runs never waits for the promise that the
    /// handler returns.
    private func withdrawWithoutANode(from promise: Promise<Int>) {
        let chain = Journal<Promise<Int>>()
        chain.add(
            Promise.value(0, on: context).then { _ in
                chain.entries[0].cancel()
                return promise
            })
        context.drain()
    }

    @Test("`then`, `retry` and `poll` do not walk the waiters of their promise")
    func waitingIsIndependentOfTheWaiters() {
        let few = pollTime(observers: 10)
        let many = pollTime(observers: 100_000)
        #expect(many < few * 20 + .milliseconds(20))
    }

    /// Processor time of many polls of a promise with so many observers.
    private func pollTime(observers: Int) -> Duration {
        let promise = poll(every: .milliseconds(1), on: context, until: { $0 }) {
            .value(false, on: .inline)
        }
        context.drain()
        for _ in 0..<observers { promise.whenSettled { _ in } }
        let start = processorTime
        context.advance(by: .milliseconds(500))
        let end = processorTime
        promise.cancel()
        context.drain()
        return end - start
    }

    /// Of this thread, so that other tests do not count.
    private var processorTime: Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
