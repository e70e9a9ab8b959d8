import Foundation
import Promises
import Testing

/// If the library holds the last reference to a user's object, the object is destroyed on its own
/// thread, and never under a lock.
@Suite(.timeLimit(.minutes(5))) struct LastReferenceTests {
    /// Values of local promises are destroyed on their thread, even if a pool on another thread
    /// checks which promises are alive.
    @Test func aPoolDestroysNoLocalValueOnAnotherThread() {
        let context = ManualContext()
        let pool = CancellationPool()
        let elsewhere = Journal<Int>()
        // Adding from another thread makes the pool check its members repeatedly.
        let isFinished = Journal<Bool>()
        concurrently([
            {
                context.claim()
                for round in 0..<ThreadSanitizer.shortened(2_000) {
                    LocalContext.run(on: context) { local in
                        var promises = (0..<64).map { _ in
                            local.value(Token { if !context.isCurrent { elsewhere.add(round) } })
                        }
                        for promise in promises { pool.add(promise) }
                        // Releases them while the other thread checks them.
                        promises.removeAll()
                    }
                    context.drain()
                }
                isFinished.add(true)
            },
            {
                while isFinished.entries.isEmpty { pool.add(Promise.value(1)) }
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

    /// The coalescer's stored key is equal to the requested one but may be another object, and the
    /// coalescer may hold its last reference. The deinitialiser of the key may call the coalescer.
    @Test func aCoalescerDestroysNoKeyUnderItsLock() async {
        await #expect(processExitsWith: .success) {
            let coalescer = Coalescer<Key, Int>()
            let counts = Journal<Int>()
            @Sendable func key() -> Key {
                Key(number: 1, token: Token { counts.add(coalescer.count) })
            }
            // Inside an inline handler the end of the work is handled later, so that the second
            // call finds finished work.
            Promise.value(1, on: .inline).whenSettled { _ in
                coalescer.value(for: key(), on: .inline) { .never(on: .inline) }.cancel()
                coalescer.value(for: key(), on: .inline) { .never(on: .inline) }.cancel()
            }
            guard counts.entries.count == 2, coalescer.count == 0 else { exit(2) }
        }
    }

    final class Value: Sendable {
        let token: Token
        init(_ onFree: @escaping @Sendable () -> Void) { token = Token(onFree: onFree) }
    }

    /// The handler that ends the work also holds its value, so the coalescer's table never has the
    /// last reference.
    @Test func aCoalescerDestroysNoValueUnderItsLock() async {
        await #expect(processExitsWith: .success) {
            let coalescer = Coalescer<Int, Value>()
            let counts = Journal<Int>()
            for _ in 0..<100 {
                concurrently(
                    (0..<2).map { _ in
                        {
                            for _ in 0..<20 {
                                let value = coalescer.value(for: 1, on: .inline) {
                                    .value(Value { counts.add(coalescer.count) }, on: .inline)
                                }
                                value.cauterize()
                            }
                        }
                    })
            }
            guard coalescer.count == 0 else { exit(2) }
        }
    }
}
