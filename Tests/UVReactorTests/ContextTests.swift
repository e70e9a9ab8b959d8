import Foundation
import Promises
import Reactor
import Synchronization
import Testing
import UVReactor

@Suite(.timeLimit(.minutes(5))) struct ContextTests {
    @Test func contextIsCurrentOnlyOnTheThreadOfItsLoop() throws {
        var old: UVContext?
        try onLoop { loop in
            let context = loop.context
            old = context
            #expect(context.isCurrent)
            TestThread { #expect(!context.isCurrent) }.join()
            loop.stop()
        }
        #expect(try #require(old).isCurrent == false, "the loop has ended")
    }

    /// A promise that another thread fulfils, handled on the loop.
    @Test func promiseFulfilledByAnotherThreadIsHandledOnTheLoop() throws {
        try onLoop { loop in
            let home = pthread_self()
            let resolver = Resolver<Int>(on: loop.context)
            let promise = resolver.promise
            let shared = resolver.shared()
            let other = TestThread { shared.fulfill(42) }
            promise.on(loop.local).map { value in
                #expect(value == 42 && pthread_equal(home, pthread_self()) != 0)
                loop.stop()
            }.catch { _ in }
            other.join()
        }
    }

    /// Another thread enqueues the first two handlers, and the loop the third.
    @Test func handlersRunInOrderWhicheverThreadEnqueuesThem() throws {
        try onLoop { loop in
            let resolver = Resolver<Int>(on: loop.context).shared()
            let promise = resolver.promise
            let entries = Mutex<[Int]>([])
            for number in 1...2 {
                promise.whenSettled { _ in entries.withLock { $0.append(number) } }
            }
            TestThread { resolver.fulfill(1) }.join()
            promise.whenSettled { _ in entries.withLock { $0.append(3) } }
            promise.on(loop.local).whenSettled { _ in
                #expect(entries.withLock { $0 } == [1, 2, 3])
                loop.stop()
            }
        }
    }

    /// Other threads settle while the loop attaches handlers.
    @Test func handlersRunInOrderWhileAnotherThreadSettles() throws {
        try onLoop { loop in
            let entries = Mutex<[Int]>([])
            let rounds = 200, handlers = 20
            for round in 0..<rounds {
                let resolver = Resolver<Int>(on: loop.context).shared()
                let promise = resolver.promise
                let other = TestThread { resolver.fulfill(1) }
                for number in 0..<handlers {
                    promise.whenSettled { _ in
                        entries.withLock { $0.append(round * handlers + number) }
                    }
                }
                other.join()
            }
            Promise.value(1, on: loop.context).on(loop.local).whenSettled { _ in
                let entries = entries.withLock { $0 }
                for round in 0..<rounds {
                    let numbers = entries.filter { $0 / handlers == round }
                    #expect(numbers == Array(round * handlers..<(round + 1) * handlers))
                }
                loop.stop()
            }
        }
    }
}
