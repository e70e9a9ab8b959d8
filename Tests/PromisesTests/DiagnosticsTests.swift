import Promises
import Synchronization
import Testing

/// Failures that no handler receives become events, once. F9, F22, F57.
///
/// The handler, and whether creation sites are recorded, are global: each test runs in its own
/// process.
@Suite(.serialized, .timeLimit(.minutes(5))) struct DiagnosticsTests {
    @Test func anUnhandledRejectionIsReportedOnce() async {
        await #expect(processExitsWith: .success) {
            let context = ManualContext()
            let reason = Reason()
            let events = events(on: context) {
                let chain = Promise<Int>.error(reason, on: context).map { $0 }.map { $0 }
                context.drain()
                _ = consume chain
            }
            #expect(events.unhandled(reason) == 1)
        }
    }

    @Test func handledRejectionsAreNotReported() async {
        await #expect(processExitsWith: .success) {
            let context = ManualContext()
            let reason = Reason()
            let events = events(on: context) {
                let source = Promise<Int>.error(reason, on: context)
                source.map { $0 }.catch { _ in }
                source.map { $0 }.whenSettled { _ in }
                all([source.map { $0 }, source.map { $0 }]).catch { _ in }
            }
            #expect(events.unhandled(reason) == 0)
        }
    }

    @Test func errorsInAnAnyResultAreNotReported() async {
        await #expect(processExitsWith: .success) {
            let context = ManualContext()
            let reason = Reason()
            let events = events(on: context) {
                LocalContext.run(on: context) { local in
                    let one = LocalResolver<Int>(on: local)
                    let other = LocalResolver<Int>(on: local)
                    local.any([(key: 0, promise: one.promise), (key: 1, promise: other.promise)])
                        .whenSettled { _ in }
                    one.reject(reason)
                    other.fulfill(1)
                    context.drain()
                }
            }
            #expect(events.unhandled(reason) == 0)
        }
    }

    @Test func abandonedReportsTheCreationSite() async {
        await #expect(processExitsWith: .success) {
            checkAbandonedNamesThePlaceOfCreation()
        }
    }

    @Test("F57: cauterize reports the silenced error") func cauterizeReportsTheSilencedError()
        async
    {
        await #expect(processExitsWith: .success) {
            let context = ManualContext()
            let reason = Reason()
            let events = events(on: context) { Promise<Int>.error(reason, on: context).cauterize() }
            #expect(
                events.contains {
                    if case .cauterized(let error, _) = $0 {
                        error as? Reason === reason
                    } else {
                        false
                    }
                })
            #expect(events.unhandled(reason) == 0)
        }
    }

    @Test("F93: the handler is the only global setting, and it may use promises")
    func theHandlerMayUsePromises() async {
        await #expect(processExitsWith: .success) {
            let context = ManualContext()
            let journal = Journal<String>()
            let former = PromiseDiagnostics.setHandler { event in
                guard case .cauterized(let error, _) = event, error as? Failure == Failure("first")
                else { return }
                Promise<Int>.error(Failure("second"), on: context)
                    .catch { _ in journal.add("from the handler") }
            }
            Promise<Int>.error(Failure("first"), on: context).cauterize()
            context.drain()
            PromiseDiagnostics.setHandler(former)
            #expect(journal.entries == ["from the handler"])
        }
    }

    /// Each event wrapped the handler once more: calls of a handler needed more stack with each event.
    @Test("the handler needs no more stack after many events") func theHandlerIsNotWrapped() async {
        await #expect(processExitsWith: .success) {
            let calls = Atomic(0)
            PromiseDiagnostics.setHandler { _ in calls.add(1, ordering: .relaxed) }
            onAnotherThread(stackBytes: 512 * 1024) {
                for _ in 0..<20_000 { Promise<Int>.error(Failure("x"), on: .inline).cauterize() }
            }
            #expect(calls.load(ordering: .relaxed) == 20_000)
        }
    }

    @Test("F20: settling twice is reported with its creation site, settling after a cancel is not")
    func settlingTwiceIsReported() async {
        await #expect(processExitsWith: .success) {
            checkResolvedTwice()
        }
    }

    @Test("settling after `follow` and a cancellation is not reported")
    func settlingAfterFollowAndCancellationIsNotReported() async {
        await #expect(processExitsWith: .success) {
            let context = ManualContext()
            let events = events(on: context) {
                let other = Resolver<Int>(on: context).shared()
                let resolver = Resolver<Int>(on: context).shared()
                resolver.follow(other.promise)
                resolver.promise.cancel()
                resolver.fulfill(1)
            }
            #expect(events.isEmpty)
        }
    }

    @Test("a cancelled promise has the creation site of its caller")
    func aCancelledPromiseHasItsCreationSite() async {
        await #expect(processExitsWith: .success) {
            checkSiteOfCancelledPromises()
        }
    }

    @Test("F9: an unhandled rejection reports where its chain began, and its label")
    func anUnhandledRejectionReportsItsCreationSite() async {
        await #expect(processExitsWith: .success) {
            checkSiteOfAChain()
        }
    }

    @Test("F80: a late error of a failed all is no unhandled rejection")
    func lateErrorsOfAFailedAllAreNotReported() async {
        await #expect(processExitsWith: .success) {
            let context = ManualContext()
            let (first, second) = (Reason(), Reason())
            let events = events(on: context) {
                let resolvers = [
                    Resolver<Int>(on: context).shared(), Resolver<Int>(on: context).shared(),
                ]
                let both = all(resolvers.map { $0.promise.shielded() })
                both.catch { _ in }
                resolvers[0].reject(first)
                context.drain()
                resolvers[1].reject(second)
            }
            #expect(events.unhandled(first) == 0)
            #expect(events.unhandled(second) == 0)
        }
    }

    @Test("F22: an abandoned promise is one event, not also an unhandled rejection")
    func anAbandonedPromiseIsReportedOnce() async {
        await #expect(processExitsWith: .success) {
            checkAbandonedOnce()
        }
    }

    @Test("F13: a throw of the work after settling is reported")
    func aThrowAfterSettlingIsReported() async {
        await #expect(processExitsWith: .success) {
            let context = ManualContext()
            let reason = Reason()
            let events = events(on: context) {
                let promise = Promise<Int>(on: context) { resolver in
                    resolver.fulfill(1)
                    throw reason
                }
                #expect(promise.value == 1)
            }
            #expect(events.unhandled(reason) == 1)
        }
    }

    @Test("F88: a blocking thread is reported") func blockingIsReported() async {
        await #expect(processExitsWith: .success) {
            checkBlockingWait()
        }
    }
}

// Outside the macro, in which every line has the same number.

private func checkAbandonedNamesThePlaceOfCreation() {
    let context = ManualContext()
    let line = UInt(#line + 2)
    let events = events(on: context) {
        let resolver = Resolver<Int>(on: context)
        resolver.promise.catch { _ in }
    }
    #expect(
        events.contains {
            if case .abandoned(let site?) = $0 { site.line == line } else { false }
        })
}

private func checkResolvedTwice() {
    let context = ManualContext()
    let line = UInt(#line + 2)
    let events = events(on: context) {
        let twice = Resolver<Int>(on: context).shared()
        twice.fulfill(1)
        twice.reject(Failure("late"))
        let cancelled = Resolver<Int>(on: context).shared()
        cancelled.promise.cancel()
        cancelled.fulfill(1)
    }
    let lines = events.compactMap { event -> UInt? in
        if case .resolvedTwice(let site?) = event { site.line } else { nil }
    }
    #expect(lines.filter { $0 == line } == [line])
    #expect(!lines.contains(line + 3))
}

private func checkSiteOfAChain() {
    let context = ManualContext()
    let reason = Reason()
    let line = UInt(#line + 3)
    let events = events(on: context) {
        do {
            let resolver = Resolver<Int>(on: context)
            let end = resolver.promise.labelled("login").map { $0 }.then { [context] in
                Promise.value($0, on: context)
            }
            #expect(end.debugDescription.contains("\"login\" at "))
            resolver.reject(reason)
            context.drain()
        }
    }
    let sites = events.compactMap { event -> CreationSite? in
        if case .unhandledRejection(let error, let site?) = event,
            error as? Reason === reason
        {
            site
        } else {
            nil
        }
    }
    #expect(sites.map(\.line) == [line] && sites.map(\.label) == ["login"])
}

private func checkAbandonedOnce() {
    let context = ManualContext()
    let line = UInt(#line + 2)
    let events = events(on: context) {
        _ = Resolver<Int>(on: context)
        context.drain()
    }
    let here = events.count {
        if case .abandoned(let site?) = $0 { site.line == line } else { false }
    }
    #expect(here == 1)
    let unhandled = events.contains {
        if case .unhandledRejection(let error, _) = $0 {
            error as? PromiseError == .abandoned
        } else {
            false
        }
    }
    #expect(!unhandled)
}

private func checkBlockingWait() {
    let context = ManualContext()
    let line = UInt(#line + 2)
    let events = events(on: context) {
        let resolver = Resolver<Int>(on: ManualContext())
        let promise = resolver.promise
        onAnotherThread { _ = try? promise.wait(for: .milliseconds(1)) }
        resolver.fulfill(1)
    }
    let here = events.count {
        if case .blockingWait(let site?) = $0 { site.line == line } else { false }
    }
    #expect(here == 1)
}

private func checkSiteOfCancelledPromises() {
    let context = ManualContext()
    _ = events(on: context) {
        let promise = Promise<Int>.cancelled(on: context)
        #expect(promise.debugDescription.contains("DiagnosticsTests.swift:\(#line - 1)"))
        LocalContext.run(on: context) { local in
            let promise = local.cancelled(as: Int.self)
            #expect(promise.debugDescription.contains("DiagnosticsTests.swift:\(#line - 1)"))
        }
    }
}

/// The events that are reported while `body` runs.
private func events(on context: ManualContext, during body: () -> Void) -> [PromiseEvent] {
    let journal = Journal<PromiseEvent>()
    PromiseDiagnostics.setHandler(keepingCreationSites: true) { journal.add($0) }
    body()
    context.drain()
    PromiseDiagnostics.setHandler(nil)
    return journal.entries
}

extension [PromiseEvent] {
    fileprivate func unhandled(_ reason: Reason) -> Int {
        count {
            guard case .unhandledRejection(let error, _) = $0 else { return false }
            return error as? Reason === reason
        }
    }
}
