import Dispatch
import Promises
import PromisesDispatch
import Testing

@Suite(.timeLimit(.minutes(5))) struct OrderingExamples {
    let context = ManualContext()

    @Test func cleanStack() {
        let (context, journal) = (context, Journal<String>())
        // snippet: clean-stack
        let resolver = Resolver<Int>(on: context)
        let promise = resolver.promise
        promise.whenSettled { _ in journal.add("handler 1") }
        promise.whenSettled { _ in journal.add("handler 2") }
        resolver.fulfill(1)
        promise.whenSettled { _ in journal.add("handler 3") }
        journal.add("after fulfill")

        context.drain()
        // after fulfill, handler 1, handler 2, handler 3
        // end
        #expect(journal.entries == ["after fulfill", "handler 1", "handler 2", "handler 3"])
    }

    @Test func contexts() async {
        let context = context
        // snippet: contexts
        let elsewhere = Promise.value(1, on: context)
            .map { $0 + 1 }  // on `context`: inherited
            .map(on: SharedPool.shared) { $0 * 10 }  // on the pool, like the handlers below
            .map { $0 + 1 }
            .hop(to: context)  // and back
        // end
        context.drain()
        while elsewhere.isPending {
            await Task.yield()
            context.claim()
            context.drain()
        }
        #expect(elsewhere.value == 21)
    }

    @Test func queues() async {
        let context = context
        // snippet: queues
        let disk = QueueContext(DispatchQueue(label: "disk"))
        let size = Promise.value("notes.txt", on: context)
            .map(on: disk) { name in name.count }  // on the queue
            .hop(to: context)
        // end
        while size.isPending {
            await Task.yield()
            context.claim()
            context.drain()
        }
        #expect(size.value == 9)
    }

    @Test func inputOrder() {
        let context = context
        // snippet: input-order
        let slow = after(.milliseconds(50), on: context).promise.map { "slow" }
        let fast = after(.milliseconds(10), on: context).promise.map { "fast" }
        let both = all([slow, fast])  // ["slow", "fast"], however they arrive
        // end
        context.advance(by: .seconds(1))
        #expect(both.value == ["slow", "fast"])
    }

    @Test func virtualTime() {
        // snippet: virtual-time
        let context = ManualContext()
        let late = Promise<Int>.never(on: context).timeout(.seconds(5))

        context.advance(by: .seconds(4))
        let before = late.isPending  // true
        context.advance(by: .seconds(1))
        let after = late.error as? PromiseError  // .timedOut
        // end
        #expect(before)
        #expect(after == .timedOut)
        #expect(context.liveTimers == 0)
    }
}
