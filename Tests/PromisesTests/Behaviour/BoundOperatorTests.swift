import Promises
import Testing

/// `compactMap`, `validate`, `done` and `catch` of a promise that is bound to an owner.
@Suite struct BoundOperatorTests {
    final class Owner: Sendable {
        let journal = Journal<String>()
    }

    let context = ManualContext()

    @Test func theOwnerIsPassedToEachHandler() {
        let owner = Owner()
        Promise.value(4, on: context).with(weak: owner)
            .compactMap { owner, value in
                owner.journal.add("compactMap")
                return value > 3 ? "\(value)" : nil
            }
            .validate { owner, text in
                owner.journal.add("validate")
                return text == "4"
            }
            .done { owner, text in owner.journal.add(text) }
            .catch { owner, error in owner.journal.add("\(error)") }
        context.drain()
        #expect(owner.journal.entries == ["compactMap", "validate", "4"])
    }

    @Test func failuresReachCatchWithTheOwner() {
        let owner = Owner()
        let bound = Promise.value(1, on: context).with(weak: owner)
        bound.compactMap { _, _ -> Int? in nil }.catch { $0.journal.add("\($1)") }
        bound.validate { _, _ in false }.catch { $0.journal.add("\($1)") }
        bound.done { _, _ in throw Failure("done") }
            .catch { owner, error in owner.journal.add((error as? Failure)?.name ?? "") }
        context.drain()
        #expect(owner.journal.entries == ["noValue", "validationFailed", "done"])
    }

    @Test func withoutTheOwnerNoHandlerRunsAndCatchStillEnds() {
        let journal = Journal<String>()
        var owner: Owner? = Owner()
        let ended = Journal<String>()
        if let owner {
            Promise.value(1, on: context).with(weak: owner)
                .validate { _, _ in
                    journal.add("validate")
                    return true
                }
                .done { _, _ in journal.add("done") }
                .catch { _, _ in journal.add("catch") }
                .done { ended.add("over") }
        }
        owner = nil
        context.drain()
        #expect(journal.entries == [])
        #expect(ended.entries == ["over"])
    }

    @Test func catchLeavesOutCancellationUnlessThePolicyCoversIt() {
        let owner = Owner()
        let bound = Promise<Int>.cancelled(on: context).with(weak: owner)
        bound.catch { owner, _ in owner.journal.add("default") }
        bound.catch(policy: .allErrors) { owner, _ in owner.journal.add("all errors") }
        context.drain()
        #expect(owner.journal.entries == ["all errors"])
    }

    @Test func localPromisesHaveTheSameOperators() {
        let context = context
        let entries = LocalContext.run(on: context) { local in
            let owner = Owner()
            local.value(4).with(weak: owner)
                .compactMap { _, value in Optional(value + 1) }
                .validate { _, value in value == 5 }
                .done { owner, value in owner.journal.add("\(value)") }
                .catch { owner, error in owner.journal.add("\(error)") }
            local.value(4).with(weak: owner).validate { _, _ in false }
                .done { _, _ in }
                .catch { owner, error in owner.journal.add("\(error)") }
            context.drain()
            return owner.journal.entries
        }
        #expect(entries == ["5", "validationFailed"])
    }
}
