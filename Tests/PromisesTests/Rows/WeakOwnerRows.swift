import Promises
import Testing

/// F95: handlers with a weak owner.
@Suite struct WeakOwnerRows {
    final class Owner: Sendable {
        let journal: Journal<String>
        init(_ journal: Journal<String>) { self.journal = journal }
    }

    let context = ManualContext()
    let journal = Journal<String>()

    @Test("F95: each handler receives the owner") func handlersReceiveTheOwner() {
        let context = context
        let owner = Owner(journal)
        let end = Promise.value(1, on: context).with(weak: owner)
            .map { owner, value in
                owner.journal.add("map")
                return value + 1
            }
            .then { _, value in Promise.value(value * 2, on: context) }
            .onValue { owner, value in owner.journal.add("\(value)") }
            .map { _, _ -> Int in throw Failure("x") }
            .onFailure { owner, _ in owner.journal.add("failure") }
            .recover { _, _ in Promise.value(7, on: context) }
            .ensure { $0.journal.add("ensure") }
            .promise
        context.drain()
        #expect(end.value == 7)
        #expect(journal.entries == ["map", "4", "failure", "ensure"])
        withExtendedLifetime(owner) {}
    }

    @Test(
        "F95: without the owner no handler runs, not even those of cleanup", arguments: [0, 1, 2])
    func noHandlerRunsWithoutTheOwner(kind: Int) {
        let context = context
        var owner: Owner? = Owner(journal)
        let source: Promise<Int> =
            [.value(1, on: context), .error(Failure("x"), on: context), .cancelled(on: context)][
                kind]
        guard let bound = owner.map({ source.with(weak: $0) }) else { return }
        let end = bound.map { owner, value in
            owner.journal.add("map")
            return value
        }.onFailure { owner, _ in owner.journal.add("failure") }
            .ensure { $0.journal.add("ensure") }.promise
        owner = nil
        context.drain()
        #expect(journal.entries == [])
        #expect(end.error as? PromiseError == .contextDeallocated)
    }

    @Test("F95: local handlers receive an owner that is not Sendable")
    func localHandlersReceiveAnOwnerThatIsNotSendable() {
        final class Plain { var count = 0 }
        LocalContext.run(on: context) { local in
            let plain = Plain()
            let end = local.value(1).with(weak: plain).map { owner, value in
                owner.count += value
                return owner.count
            }.ensure { $0.count += 1 }.promise
            context.drain()
            #expect(end.value == 1 && plain.count == 2)

            var other: Plain? = Plain()
            let lost = other.map { local.value(1).with(weak: $0).map { _, value in value } }
            other = nil
            context.drain()
            #expect(lost?.promise.error as? PromiseError == .contextDeallocated)
        }
    }
}
