import Dispatch
import Foundation
import Promises
import Synchronization
import Testing

/// Threads that attach, settle, cancel and drop the same promise at the same moment. Also for
/// ThreadSanitizer and AddressSanitizer.
@Suite(.serialized, .timeLimit(.minutes(5))) struct StressTests {
    static let rounds = 400

    private func settled<Value>(_ promise: Promise<Value>) {
        let done = DispatchSemaphore(value: 0)
        promise.whenSettled { _ in done.signal() }
        done.wait()
    }

    @Test func handlersAttachedByTwoThreadsAllRun() {
        let context = ThreadContext()
        for round in 0..<Self.rounds {
            let resolver = Resolver<Int>(on: context).shared()
            let source = resolver.promise
            let count = Atomic(0)
            let attach: @Sendable () -> Void = {
                for _ in 0..<20 {
                    source.map { $0 }.whenSettled { _ in count.add(1, ordering: .relaxed) }
                }
            }
            concurrently(
                round.isMultiple(of: 2)
                    ? [attach, attach, { resolver.fulfill(1) }] : [attach, attach])
            resolver.fulfill(1)
            // After all attached handlers, and after the handlers of their promises.
            settled(source.map { $0 }.map { $0 }.map { $0 })
            #expect(count.load(ordering: .relaxed) == 40)
        }
        context.stop()
    }

    /// On `.inline`, the input slots of a result are settled on two threads at once, while one of
    /// them withdraws from the others.
    @Test func inputsOfAResultSettleOnTwoThreads() {
        for _ in 0..<Self.rounds {
            let resolvers = (0..<3).map { _ in Resolver<Int>(on: .inline).shared() }
            let promises = resolvers.map(\.promise)
            let (all, any) = (all(promises), any(promises.map { (key: 1, promise: $0) }))
            let (race, first) = (race(promises), firstSettled(promises))
            concurrently([
                { resolvers[0].reject(Failure("a")) }, { resolvers[1].fulfill(1) },
                { any.cancel() },
            ])
            resolvers[2].fulfill(2)
            #expect(all.error is Failure || all.error is Cancelled)
            #expect(!any.isPending && !race.isPending && !first.isPending)
        }
    }

    /// The producer's thread settles while a consumer's thread cancels: there is one outcome, and
    /// `onCancel` runs exactly when the cancellation won.
    @Test func settlingAndCancellingDecideOnce() {
        let context = ThreadContext()
        let wins = Atomic(0)
        for _ in 0..<Self.rounds {
            let resolver = Resolver<Int>(on: context).shared()
            let stops = Atomic(0)
            resolver.onCancel { _ in stops.add(1, ordering: .relaxed) }
            let source = resolver.promise
            let leaf = source.map { $0 + 1 }
            let isFirst = Atomic(false)
            concurrently([
                { isFirst.store(resolver.fulfill(1), ordering: .relaxed) },
                { leaf.cancel() },
            ])
            settled(leaf)
            settled(source)
            settled(Promise.value(1, on: context))
            let won = isFirst.load(ordering: .relaxed)
            #expect(stops.load(ordering: .relaxed) == (won ? 0 : 1))
            #expect(won ? source.value == 1 : source.error is Cancelled)
            #expect(leaf.value == 2 || leaf.error is Cancelled)
            if won { wins.add(1, ordering: .relaxed) }
        }
        context.stop()
    }

    /// One consumer withdraws while another attaches: the work goes on if it attached before the
    /// cancellation.
    @Test func aConsumerAttachesWhileTheLastOneWithdraws() {
        let context = ThreadContext()
        for _ in 0..<Self.rounds {
            let resolver = Resolver<Int>(on: context).shared()
            let source = resolver.promise
            let withdrawing = source.map { $0 }
            let attached = Journal<Promise<Int>>()
            concurrently([{ withdrawing.cancel() }, { attached.add(source.map { $0 + 1 }) }])
            if resolver.isCancelled {
                settled(attached.entries[0])
                #expect(attached.entries[0].error is Cancelled)
            } else {
                resolver.fulfill(1)
                settled(attached.entries[0])
                #expect(attached.entries[0].value == 2)
            }
        }
        context.stop()
    }

    @Test func workStopsOnceWhenAllConsumersWithdrawAtOnce() {
        let context = ThreadContext()
        for _ in 0..<Self.rounds {
            let resolver = Resolver<Int>(on: context).shared()
            let stops = Atomic(0)
            resolver.onCancel { _ in stops.add(1, ordering: .relaxed) }
            let leafs = (0..<4).map { _ in resolver.promise.map { $0 }.map { $0 } }
            concurrently(leafs.map { leaf in { leaf.cancel() } })
            #expect(resolver.isCancelled)
            settled(Promise.value(1, on: context))
            #expect(stops.load(ordering: .relaxed) == 1)
        }
        context.stop()
    }

    @Test func manyThreadsWithdrawFromConfinedWork() {
        let context = ThreadContext()
        for _ in 0..<Self.rounds {
            let sharedPromises = Journal<Promise<Int>>()
            let stops = Atomic(0)
            let resolver = Resolver<Int>(on: context).shared()
            resolver.onCancel { _ in stops.add(1, ordering: .relaxed) }
            settled(
                Promise(on: context) {
                    LocalContext.run(on: context) { local in
                        let local = resolver.promise.on(local).map { $0 }
                        for _ in 0..<3 { sharedPromises.add(local.map { $0 }.shared) }
                    }
                })
            concurrently(sharedPromises.entries.map { sharedPromise in { sharedPromise.cancel() } })
            for sharedPromise in sharedPromises.entries { settled(sharedPromise) }
            // A job of the context withdraws from the work: it has run when a later job has run.
            settled(Promise.value(1, on: context).map { $0 }.map { $0 })
            #expect(stops.load(ordering: .relaxed) == 1)
        }
        context.stop()
    }

    @Test func droppingCancellingAndAttachingAtOnceSettles() {
        let context = ThreadContext()
        for _ in 0..<Self.rounds {
            let producer = Follower(on: context)
            let source = producer.promise
            let leaf = source.map { $0 }
            concurrently([
                { producer.drop() },
                { leaf.cancel() },
                { source.whenSettled { _ in } },
            ])
            settled(leaf)
            let error = leaf.error
            #expect(error is Cancelled || error as? PromiseError == .abandoned)
        }
        context.stop()
    }

    /// Either one of the two threads detects the cycle, and both promises reject; or both threads
    /// miss it at the same moment, and the two promises wait for each other until they are
    /// cancelled.
    @Test func aCycleClosedByTwoThreadsIsDetectedOrCancellable() {
        let context = ThreadContext()
        for round in 0..<Self.rounds {
            let (first, second) = (Follower(on: context), Follower(on: context))
            let (one, two) = (first.promise, second.promise)
            // The first round is the control: one after the other, the cycle is always detected.
            let isConcurrent = round > 0
            if isConcurrent {
                concurrently([{ first.follow(two) }, { second.follow(one) }])
            } else {
                first.follow(two)
                second.follow(one)
            }
            // After the turns in which a rejection reaches both.
            settled(Promise.value(1, on: context).map { $0 }.map { $0 }.map { $0 })
            let errors = [one, two].map { $0.error as? PromiseError }
            if errors == [.resolvedWithItself, .resolvedWithItself] { continue }
            #expect(isConcurrent && one.isPending && two.isPending, "round \(round): \(errors)")
            one.cancel()
            two.cancel()
            settled(one)
            settled(two)
            #expect(one.error is Cancelled && two.error is Cancelled)
        }
        context.stop()
    }

    @Test func manyThreadsShareCoalescedWork() {
        let context = ThreadContext()
        let coalescer = Coalescer<Int, Int>()
        let starts = Atomic(0)
        for round in 0..<Self.rounds {
            let requested = Journal<Promise<Int>>()
            let request: @Sendable () -> Void = {
                let promise = coalescer.value(for: round % 3, on: context) {
                    starts.add(1, ordering: .relaxed)
                    return Promise(on: context) { round }
                }
                requested.add(promise)
            }
            concurrently([
                request, request,
                {
                    request(); requested.entries.first?.cancel()
                },
            ])
            for promise in requested.entries {
                settled(promise)
                #expect(promise.value == round || promise.error is Cancelled)
            }
        }
        settled(Promise.value(1, on: context).map { $0 })
        #expect(coalescer.count == 0)
        #expect(starts.load(ordering: .relaxed) >= Self.rounds)
        context.stop()
    }

    /// Cancelling one consumer of coalesced work never cancels another consumer.
    @Test func cancellingOneCoalescedConsumerDoesNotCancelAnother() {
        let context = ThreadContext()
        let coalescer = Coalescer<Int, Int>()
        for _ in 0..<Self.rounds {
            let gate = Resolver<Int>(on: context).shared()
            let remaining = Journal<Promise<Int>>()
            let request: @Sendable () -> Promise<Int> = {
                coalescer.value(for: 1, on: context) { gate.promise.shielded() }
            }
            concurrently([
                { request().cancel() }, { remaining.add(request()) }, { request().cancel() },
            ])
            gate.fulfill(1)
            settled(remaining.entries[0])
            #expect(remaining.entries[0].value == 1)
        }
        context.stop()
    }

    @Test func inlineHandlersAttachedByManyThreadsAllRun() {
        for _ in 0..<Self.rounds {
            let resolver = Resolver<Int>(on: InlineContext.shared).shared()
            let count = Atomic(0)
            let attach: @Sendable () -> Void = {
                for _ in 0..<10 {
                    resolver.promise.map { $0 }.whenSettled { _ in
                        count.add(1, ordering: .relaxed)
                    }
                }
            }
            concurrently([attach, attach, { resolver.fulfill(1) }])
            // A handler that is attached during another thread's delivery runs on that thread.
            var patience = 10_000_000
            while count.load(ordering: .relaxed) < 20, patience > 0 {
                patience -= 1
                sched_yield()
            }
            #expect(count.load(ordering: .relaxed) == 20)
        }
    }
}

/// A resolver that an escaping closure can consume; for one thread at a time.
final class Follower: @unchecked Sendable {
    private var resolver: Resolver<Int>?
    let promise: Promise<Int>

    init(on context: any ExecutionContext) {
        let resolver = Resolver<Int>(on: context)
        promise = resolver.promise
        self.resolver = consume resolver
    }

    func follow(_ other: Promise<Int>) { resolver.take()?.follow(other) }
    func drop() { resolver = nil }
}
