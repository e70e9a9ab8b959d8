import Foundation
import Promises
import Testing

/// The library's own looks and locks may be the last to hold what is the user's: it is then
/// destroyed on its own thread, and never under a lock.
@Suite(.timeLimit(.minutes(5))) struct LastReferenceTests {
    /// Whatever a core's promises hold dies on the core, also when a pool on another thread looks
    /// which of them are left.
    @Test func aPoolDestroysNoValueOfACoreOnAnotherThread() {
        let context = ManualContext()
        let pool = CancellationPool()
        let elsewhere = Journal<Int>()
        // Adding from another thread makes the pool look at its members again and again.
        let isOver = Journal<Bool>()
        concurrently([
            {
                context.claim()
                for round in 0..<ThreadSanitizer.shortened(2_000) {
                    LocalContext.run(on: context) { local in
                        var held = (0..<64).map { _ in
                            local.value(Token { if !context.isCurrent { elsewhere.add(round) } })
                        }
                        for promise in held { pool.add(promise) }
                        // Lets go of them while the other thread looks at them.
                        held.removeAll()
                    }
                    context.drain()
                }
                isOver.add(true)
            },
            {
                while isOver.entries.isEmpty { pool.add(Promise.value(1)) }
            },
        ])
        context.claim()
        context.drain()
        #expect(elsewhere.entries.isEmpty)
    }

    struct Key: Hashable, Sendable {
        let number: Int
        let token: Token

        static func == (left: Key, right: Key) -> Bool { left.number == right.number }
        func hash(into hasher: inout Hasher) { hasher.combine(number) }
    }

    /// The key that the coalescer keeps may be another than the equal one that is asked for, and
    /// the coalescer the last to hold it. Its end may ask the coalescer.
    @Test func aCoalescerDestroysNoKeyUnderItsLock() async {
        await #expect(processExitsWith: .success) {
            let coalescer = Coalescer<Key, Int>()
            let counts = Journal<Int>()
            @Sendable func key() -> Key {
                Key(number: 1, token: Token { counts.add(coalescer.count) })
            }
            // Inside of an inline handler the end of work is told later, so that the second call
            // finds work that is over.
            Promise.value(1, on: .inline).whenSettled { _ in
                coalescer.value(for: key(), on: .inline) { .never(on: .inline) }.cancel()
                coalescer.value(for: key(), on: .inline) { .never(on: .inline) }.cancel()
            }
            guard counts.entries.count == 2, coalescer.count == 0 else { exit(2) }
        }
    }

    final class Answer: Sendable {
        let token: Token
        init(_ onFree: @escaping @Sendable () -> Void) { token = Token(onFree: onFree) }
    }

    /// What the work brought is held by the handler that ends it, too, so the coalescer's table is
    /// never the last to hold it.
    @Test func aCoalescerDestroysNoValueUnderItsLock() async {
        await #expect(processExitsWith: .success) {
            let coalescer = Coalescer<Int, Answer>()
            let counts = Journal<Int>()
            for _ in 0..<100 {
                concurrently(
                    (0..<2).map { _ in
                        {
                            for _ in 0..<20 {
                                let answer = coalescer.value(for: 1, on: .inline) {
                                    .value(Answer { counts.add(coalescer.count) }, on: .inline)
                                }
                                answer.cauterize()
                            }
                        }
                    })
            }
            guard coalescer.count == 0 else { exit(2) }
        }
    }
}
