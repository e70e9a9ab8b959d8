import Promises
import Synchronization
import Testing

/// 2.3.1: a promise that would wait for itself is rejected. F31, behaviour 23.
@Suite(.timeLimit(.minutes(5))) struct Clause2_3_1Tests {
    @Test func returningTheChildFromItsHandlerRejects() {
        let context = ManualContext()
        let box = Mutex<Promise<Int>?>(nil)
        let child = Promise.value(1, on: context).then { _ in box.withLock { $0 } ?? .value(0) }
        box.withLock { $0 = child }
        context.drain()
        #expect(child.error as? PromiseError == .resolvedWithItself)
    }

    @Test func returningADescendantRejects() {
        let context = ManualContext()
        let box = Mutex<Promise<Int>?>(nil)
        let child = Promise.value(1, on: context).then { _ in box.withLock { $0 } ?? .value(0) }
        let grandchild = child.map { $0 }
        box.withLock { $0 = grandchild }
        context.drain()
        #expect(child.error as? PromiseError == .resolvedWithItself)
        #expect(grandchild.error as? PromiseError == .resolvedWithItself)
    }

    @Test func twoPromisesThatFollowEachOtherReject() {
        let context = ManualContext()
        let first = Resolver<Int>(on: context)
        let second = Resolver<Int>(on: context)
        let (one, two) = (first.promise, second.promise)
        first.follow(two)
        second.follow(one)
        context.drain()
        #expect(one.error as? PromiseError == .resolvedWithItself)
        #expect(two.error as? PromiseError == .resolvedWithItself)
    }

    @Test func returningTheParentWorks() {
        let context = ManualContext()
        let parent = Promise.value(3, on: context)
        let child = parent.then { _ in parent }
        context.drain()
        #expect(child.value == 3)
    }
}

/// 2.3.2: a promise adopts another one's state. F31, behaviours 8 and 9.
@Suite(.timeLimit(.minutes(5))) struct Clause2_3_2Tests {
    @Test(arguments: Way.allCases) func followsAPendingPromise(way: Way) {
        let journal = Journal<String>()
        way.settle(.success(4)) { inner, context in
            let child = Promise.value(0, on: context).then { _ in inner }
            if inner.isPending {
                context.drain()
                #expect(child.isPending)
            }
            child.whenSettled { journal.add("\($0)") }
        }
        #expect(journal.entries == ["success(4)"])
    }

    @Test(arguments: Way.allCases) func rejectionKeepsItsReason(way: Way) {
        let journal = Journal<Bool>()
        let reason = Reason()
        way.settle(.failure(reason)) { inner, context in
            Promise.value(0, on: context).then { _ in inner }
                .catch { journal.add($0 as? Reason === reason) }
        }
        #expect(journal.entries == [true])
    }

    @Test func adoptingFromAnotherContextKeepsItsContext() {
        let here = ManualContext()
        let there = ManualContext()
        let resolver = Resolver<Int>(on: there)
        let inner = resolver.promise
        let child = Promise.value(0, on: here).then { _ in inner }.map { $0 + 1 }
        here.drain()
        resolver.fulfill(1)
        there.drain()
        #expect(child.isPending)
        here.drain()
        #expect(child.value == 2)
    }
}

/// 2.3.3.3.4: a throw before settling rejects, after settling it changes nothing. F13.
@Suite(.timeLimit(.minutes(5))) struct Clause2_3_3Tests {
    @Test func throwBeforeSettlingRejects() {
        let promise = Promise<Int>(on: ManualContext()) { _ in throw Failure("early") }
        #expect(promise.error as? Failure == Failure("early"))
    }

    @Test func throwAfterSettlingChangesNothing() {
        let promise = Promise<Int>(on: ManualContext()) { resolver in
            resolver.fulfill(1)
            throw Failure("late")
        }
        #expect(promise.value == 1)
    }
}

/// 2.3.1, cycles of more than two.
@Suite(.timeLimit(.minutes(5))) struct Clause2_3_1RingTests {
    @Test(arguments: [3, 4, 6]) func promisesThatFollowEachOtherReject(count: Int) {
        let context = ManualContext()
        let followers = (0..<count).map { _ in Follower(on: context) }
        for (index, follower) in followers.enumerated() {
            follower.follow(followers[(index + 1) % count].promise)
        }
        context.drain()
        for follower in followers {
            #expect(follower.promise.error as? PromiseError == .resolvedWithItself)
        }
    }

    @Test func aLongChainIsNoCycle() {
        let context = ManualContext()
        let resolver = Resolver<Int>(on: context)
        let inner = resolver.promise.map { $0 }
        var last = Promise.value(0, on: context).then { _ in inner }
        for _ in 0..<100 { last = last.map { $0 + 1 } }
        context.drain()
        resolver.fulfill(0)
        context.drain()
        #expect(last.value == 100)
    }
}
