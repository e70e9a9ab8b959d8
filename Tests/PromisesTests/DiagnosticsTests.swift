import Promises
import Testing

/// Decision 8: what nobody was told of becomes an event, once. F9, F22, F57.
///
/// The handler is the process's, and other tests run beside these, so each looks for its own.
@Suite(.serialized) struct DiagnosticsTests {
    let context = ManualContext()

    private func events(during body: () -> Void) -> [PromiseEvent] {
        let journal = Journal<PromiseEvent>()
        let former = PromiseDiagnostics.setHandler(keepingCreationSites: true) { journal.add($0) }
        body()
        context.drain()
        PromiseDiagnostics.setHandler(keepingCreationSites: former != nil, former)
        return journal.entries
    }

    private func unhandled(_ reason: Reason, in events: [PromiseEvent]) -> Int {
        events.count {
            guard case .unhandledRejection(let error, _) = $0 else { return false }
            return error as? Reason === reason
        }
    }

    @Test func rejectedAndReleasedUnseenIsReportedOnce() {
        let reason = Reason()
        let events = events {
            let chain = Promise<Int>.error(reason, on: context).map { $0 }.map { $0 }
            context.drain()
            _ = consume chain
        }
        #expect(unhandled(reason, in: events) == 1)
    }

    @Test func caughtObservedOrCombinedIsNotReported() {
        let reason = Reason()
        let events = events {
            let source = Promise<Int>.error(reason, on: context)
            source.map { $0 }.catch { _ in }
            source.map { $0 }.whenSettled { _ in }
            all([source.map { $0 }, source.map { $0 }]).catch { _ in }
        }
        #expect(unhandled(reason, in: events) == 0)
    }

    @Test func abandonedNamesThePlaceOfCreation() {
        let line = UInt(#line + 2)
        let events = events {
            let resolver = Resolver<Int>(on: context)
            resolver.promise.catch { _ in }
        }
        #expect(
            events.contains {
                if case .abandoned(let site?) = $0 { site.line == line } else { false }
            })
    }

    @Test func silencedOnPurposeIsReportedAsThat() {
        let reason = Reason()
        let events = events { Promise<Int>.error(reason, on: context).cauterize() }
        #expect(
            events.contains {
                if case .cauterized(let error, _) = $0 { error as? Reason === reason } else { false }
            })
        #expect(unhandled(reason, in: events) == 0)
    }
}
