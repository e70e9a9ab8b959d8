import Foundation
import Promises
import Reactor
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
}
