import Promises
import Testing

/// 2.3 for local promises: adopting another promise's state, and never one's own.
@Suite(.timeLimit(.minutes(5))) struct Clause2_3LocalTests {
    /// 2.3.2
    @Test(arguments: Way.allCases, [true, false]) func adoptsTheReturnedPromise(
        way: Way, isGood: Bool
    ) {
        let journal = Journal<String>()
        let reason = Reason()
        way.settleLocally(isGood ? .success(4) : .failure(reason)) { inner, local, context in
            let child = local.value(0).then { _ in inner }
            context.runOnce()
            if inner.isPending { #expect(child.isPending) }
            child.whenSettled { result in
                switch result {
                case .success(let value): journal.add("\(value)")
                case .failure(let error): journal.add("same \(error as? Reason === reason)")
                }
            }
        }
        #expect(journal.entries == [isGood ? "4" : "same true"])
    }

    /// 2.3.1, through cycles of any length.
    @Test(arguments: [0, 1, 2, 5, 40]) func returningADescendantRejects(links: Int) {
        let context = ManualContext()
        LocalContext.run(on: context) { local in
            let box = LocalJournal<LocalPromise<Int>>()
            let child = local.value(1).then { _ in box.entries[0] }
            var last = child
            for _ in 0..<links { last = last.map { $0 } }
            box.add(last)
            context.drain()
            #expect(child.error as? PromiseError == .resolvedWithItself)
            #expect(last.error as? PromiseError == .resolvedWithItself)
            box.entries = []
        }
    }

    @Test(arguments: [2, 3, 6]) func promisesThatFollowEachOtherReject(count: Int) {
        let context = ManualContext()
        LocalContext.run(on: context) { local in
            let boxes = (0..<count).map { _ in LocalResolverBox(local) }
            for (index, box) in boxes.enumerated() {
                box.follow(boxes[(index + 1) % count].promise)
            }
            context.drain()
            for box in boxes {
                #expect(box.promise.error as? PromiseError == .resolvedWithItself)
            }
        }
    }

    @Test func aCycleThroughACombinatorRejects() {
        let context = ManualContext()
        LocalContext.run(on: context) { local in
            let box = LocalJournal<LocalPromise<Int>>()
            let child = local.value(1).then { _ in local.all(box.entries).map { $0.count } }
            box.add(child.map { $0 })
            context.drain()
            #expect(child.error as? PromiseError == .resolvedWithItself)
            box.entries = []
        }
    }
}
