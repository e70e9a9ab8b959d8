import Foundation
import Promises
import Testing

/// Resident memory does not grow: measured in a separate process, where nothing else allocates.
/// F100, F110.
///
/// A leak of one node for each link or round would be tens of megabytes. A sanitizer delays the
/// release of memory, so under one these tests only run the code; AddressSanitizer finds leaks
/// itself.
@Suite(
    .serialized, .timeLimit(.minutes(5)),
    .enabled(if: FileManager.default.fileExists(atPath: "/proc/self/statm")))
struct MemoryTests {
    static let links = 50_000

    private static let slackBytes = 6 * 1024 * 1024

    /// Ends this process with an error if memory grows from round to round. The first rounds fill
    /// the allocator's caches.
    private static func expectNoGrowth(
        slackBytes: Int = slackBytes, _ body: @Sendable @escaping () -> Void
    ) {
        onAnotherThread {
            for _ in 0..<2 { body() }
            let before = residentBytes()
            for _ in 0..<4 { body() }
            let growth = residentBytes() - before
            if growth > slackBytes, !Sanitizer.isOn { exit(1) }
        }
    }

    /// Memory of this process that is in use, as Linux counts it.
    private static func residentBytes() -> Int {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8),
            let pages = text.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
        else { return 0 }
        return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }

    private static func chain(_ end: (consuming Resolver<Int>, Promise<Int>) -> Void) {
        let context = ManualContext()
        let resolver = Resolver<Int>(on: context)
        var last = resolver.promise
        for _ in 0..<links { last = last.map { $0 &+ 1 } }
        end(resolver, last)
        context.drain()
    }

    @Test func aSettledChainIsFreed() async {
        await #expect(processExitsWith: .success) {
            MemoryTests.expectNoGrowth {
                MemoryTests.chain { resolver, _ in resolver.fulfill(0) }
            }
        }
    }

    @Test func aDroppedChainIsFreed() async {
        await #expect(processExitsWith: .success) {
            MemoryTests.expectNoGrowth { MemoryTests.chain { _, _ in } }
        }
    }

    @Test func aCancelledChainIsFreed() async {
        await #expect(processExitsWith: .success) {
            MemoryTests.expectNoGrowth {
                MemoryTests.chain { _, last in last.cancel() }
            }
        }
    }

    /// A long-lived promise keeps no nodes of finished races, timeouts and withdrawn readers.
    @Test func withdrawnReadersOfALongLivedPromiseAreFreed() async {
        await #expect(processExitsWith: .success) {
            let context = ManualContext()
            let resolver = Resolver<Int>(on: context).shared()
            let longLived = resolver.promise
            let consumer = longLived.map { $0 }
            MemoryTests.expectNoGrowth {
                context.claim()
                for _ in 0..<8_000 {
                    _ = race([longLived, .value(1, on: context)])
                    context.drain()
                    let late = longLived.timeout(.milliseconds(1))
                    context.advance(by: .milliseconds(1))
                    guard late.error is PromiseError else { exit(2) }
                    longLived.map { $0 }.cancel()
                    context.drain()
                }
            }
            context.claim()
            resolver.fulfill(1)
            context.drain()
            if consumer.value != 1 { exit(3) }
        }
    }

    @Test func retriesCoalescersAndPoolsFreeTheirNodes() async {
        await #expect(processExitsWith: .success) {
            MemoryTests.expectNoGrowth {
                let context = ManualContext()
                let coalescer = Coalescer<Int, Int>()
                let pool = CancellationPool()
                for key in 0..<5_000 {
                    let policy = RetryPolicy(maximumAttempts: 3)
                    let work = retry(policy, on: context) { attempt in
                        if attempt < 3 { throw Failure("x") }
                        return coalescer.value(for: key, on: context) {
                            .value(key, on: context)
                        }
                    }.cancelling(with: pool)
                    context.advance(by: .zero)
                    if work.value != key { exit(4) }
                }
            }
        }
    }

    @Test func waitsThatTimeOutAreFreed() async {
        await #expect(processExitsWith: .success) {
            let resolver = Resolver<Int>()
            let promise = resolver.promise
            MemoryTests.expectNoGrowth(slackBytes: MemoryTests.slackBytes / 6) {
                // A fifth of them: each takes the kernel a tenth of a millisecond.
                for _ in 0..<MemoryTests.links / 5 { _ = try? promise.wait(for: .zero) }
            }
            resolver.fulfill(1)
        }
    }

    @Test func cancelledShieldedReadersAreFreed() async {
        await #expect(processExitsWith: .success) {
            let resolver = Resolver<Int>(on: ManualContext())
            let promise = resolver.promise
            MemoryTests.expectNoGrowth {
                for _ in 0..<MemoryTests.links { promise.shielded().cancel() }
            }
            resolver.fulfill(1)
        }
    }
}
