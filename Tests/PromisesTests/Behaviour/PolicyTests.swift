import Promises
import Testing

/// Every failure operator with a policy: by default it skips a cancellation, and with `.allErrors` it
/// receives one.
@Suite(.timeLimit(.minutes(5))) struct PolicyTests {
    final class Owner: Sendable {}

    enum Operator: CaseIterable {
        case onFailure, recover, `catch`, localOnFailure, localRecover, localCatch
        case boundOnFailure, boundRecover, boundCatch
        case localBoundOnFailure, localBoundRecover, localBoundCatch

        /// Attaches the operator to a cancelled promise; `policy` nil for the default.
        func attach(
            on context: ManualContext, policy: CatchPolicy?, _ run: @escaping @Sendable () -> Void
        ) {
            let source = Promise<Int>.cancelled(on: context)
            let owner = Owner()
            LocalContext.run(on: context) { local in
                switch (self, policy) {
                case (.onFailure, nil): _ = source.onFailure { _ in run() }
                case (.onFailure, let policy?): _ = source.onFailure(policy: policy) { _ in run() }
                case (.recover, nil):
                    _ = source.recover { _ in
                        run()
                        return .value(1)
                    }
                case (.recover, let policy?):
                    _ = source.recover(policy: policy) { _ in
                        run()
                        return .value(1)
                    }
                case (.catch, nil): source.catch { _ in run() }
                case (.catch, let policy?): source.catch(policy: policy) { _ in run() }
                case (.localOnFailure, nil): _ = source.on(local).onFailure { _ in run() }
                case (.localOnFailure, let policy?):
                    _ = source.on(local).onFailure(policy: policy) { _ in run() }
                case (.localRecover, nil):
                    _ = source.on(local).recover { _ in
                        run()
                        return local.value(1)
                    }
                case (.localRecover, let policy?):
                    _ = source.on(local).recover(policy: policy) { _ in
                        run()
                        return local.value(1)
                    }
                case (.localCatch, nil): source.on(local).catch { _ in run() }
                case (.localCatch, let policy?):
                    source.on(local).catch(policy: policy) { _ in run() }
                case (.boundOnFailure, nil):
                    _ = source.with(weak: owner).onFailure { _, _ in run() }
                case (.boundOnFailure, let policy?):
                    _ = source.with(weak: owner).onFailure(policy: policy) { _, _ in run() }
                case (.boundRecover, nil):
                    _ = source.with(weak: owner).recover { _, _ in
                        run()
                        return .value(1)
                    }
                case (.boundRecover, let policy?):
                    _ = source.with(weak: owner).recover(policy: policy) { _, _ in
                        run()
                        return .value(1)
                    }
                case (.boundCatch, nil): source.with(weak: owner).catch { _, _ in run() }
                case (.boundCatch, let policy?):
                    source.with(weak: owner).catch(policy: policy) { _, _ in run() }
                case (.localBoundOnFailure, nil):
                    _ = source.on(local).with(weak: owner).onFailure { _, _ in run() }
                case (.localBoundOnFailure, let policy?):
                    _ = source.on(local).with(weak: owner).onFailure(policy: policy) { _, _ in
                        run()
                    }
                case (.localBoundRecover, nil):
                    _ = source.on(local).with(weak: owner).recover { _, _ in
                        run()
                        return local.value(1)
                    }
                case (.localBoundRecover, let policy?):
                    _ = source.on(local).with(weak: owner).recover(policy: policy) { _, _ in
                        run()
                        return local.value(1)
                    }
                case (.localBoundCatch, nil):
                    source.on(local).with(weak: owner).catch { _, _ in run() }
                case (.localBoundCatch, let policy?):
                    source.on(local).with(weak: owner).catch(policy: policy) { _, _ in run() }
                }
                context.drain()
            }
            withExtendedLifetime(owner) {}
        }
    }

    @Test(
        arguments: Operator.allCases,
        [nil, .allErrors, .allErrorsExceptCancellation] as [CatchPolicy?])
    func onlyAllErrorsCoversACancellation(_ attached: Operator, policy: CatchPolicy?) {
        let calls = Journal<Bool>()
        attached.attach(on: ManualContext(), policy: policy) { calls.add(true) }
        #expect(calls.entries == (policy == .allErrors ? [true] : []))
    }

    @Test(arguments: [nil, .allErrors, .allErrorsExceptCancellation] as [CatchPolicy?])
    func handlersOnTheMainActorFollowThePolicy(policy: CatchPolicy?) async {
        let calls = Journal<String>()
        let owner = Owner()
        let source = Promise<Int>.cancelled().onMainActor
        let bound = source.with(weak: owner)
        let ends: [Guarantee<Void>]
        if let policy {
            ends = [
                source.onFailure(policy: policy) { _ in calls.add("onFailure") }.promise
                    .cauterize(),
                source.recover(policy: policy) { error in
                    calls.add("recover")
                    throw error
                }.promise.cauterize(),
                source.catch(policy: policy) { _ in calls.add("catch") },
                bound.onFailure(policy: policy) { _, _ in calls.add("bound onFailure") }
                    .promise.promise.cauterize(),
                bound.recover(policy: policy) { _, error in
                    calls.add("bound recover")
                    throw error
                }.promise.promise.cauterize(),
                bound.catch(policy: policy) { _, _ in calls.add("bound catch") },
            ]
        } else {
            ends = [
                source.onFailure { _ in calls.add("onFailure") }.promise.cauterize(),
                source.recover { error in
                    calls.add("recover")
                    throw error
                }.promise.cauterize(),
                source.catch { _ in calls.add("catch") },
                bound.onFailure { _, _ in calls.add("bound onFailure") }
                    .promise.promise.cauterize(),
                bound.recover { _, error in
                    calls.add("bound recover")
                    throw error
                }.promise.promise.cauterize(),
                bound.catch { _, _ in calls.add("bound catch") },
            ]
        }
        for end in ends { await end.get() }
        withExtendedLifetime(owner) {}
        #expect(calls.entries.count == (policy == .allErrors ? 6 : 0), "\(calls.entries)")
    }
}
