import MallocCounter
import Promises

/// Work whose allocations have a limit: run by the tests in a debug build, and by the program
/// `Allocations` of the benchmarks in a release build, as users build it.
struct AllocationScenario {
    let name: String
    private let work: (_ times: Int) -> Void

    init(_ name: String, _ work: @escaping (_ times: Int) -> Void) {
        self.name = name
        self.work = work
    }

    /// Calls of malloc for one run of the work. What is allocated once and kept does not count.
    func allocations() -> Double {
        work(10)
        let few = count { work(100) }
        let many = count { work(1_100) }
        return (Double(many) - Double(few)) / 1_000
    }

    private func count(_ body: () -> Void) -> UInt64 {
        let before = mallocCountOfThread()
        mallocCountThread(true)
        body()
        mallocCountThread(false)
        return mallocCountOfThread() - before
    }
}

extension AllocationScenario {
    /// All scenarios, on a context whose jobs the calling thread runs.
    static var all: [AllocationScenario] { roots + links + fans }

    private static var roots: [AllocationScenario] {
        let context = ManualContext()
        return [
            AllocationScenario("a fulfilled promise") { times in
                for _ in 0..<times { use(Promise.value(1, on: context)) }
            },
            AllocationScenario("resolver and promise, settled") { times in
                for _ in 0..<times {
                    let resolver = Resolver<Int>(on: context)
                    resolver.fulfill(1)
                }
            },
            AllocationScenario("the same with local promises") { times in
                LocalContext.run(on: context) { local in
                    for _ in 0..<times {
                        let resolver = LocalResolver<Int>(on: local)
                        resolver.fulfill(1)
                    }
                }
            },
        ]
    }

    private static var links: [AllocationScenario] {
        [
            links("map") { $0.map { $0 &+ 1 } },
            links("map that captures") { promise in
                let step = promise.isPending ? 1 : 2
                return promise.map { $0 &+ step }
            },
            links("onValue that captures") { promise in
                let step = promise.isPending ? 1 : 2
                return promise.onValue { guard $0 &+ step != 0 else { throw Zero() } }
            },
            links("done that captures, and a map") { promise in
                let step = promise.isPending ? 1 : 2
                return promise.done { guard $0 &+ step != 0 else { throw Zero() } }.map { 1 }
            },
            links("then, settled, that captures") { promise in
                let step = promise.isPending ? 1 : 2
                return promise.then { .value($0 &+ step, on: ManualContext.none) }
            },
            links("recover, not needed") { $0.recover { _ in .value(1) } },
            links("then, to a settled promise") { promise in
                promise.then { .value($0, on: ManualContext.none) }
            },
        ]
    }

    /// One more link of a chain, settled and run.
    private static func links(
        _ name: String, _ link: @escaping (Promise<Int>) -> Promise<Int>
    ) -> AllocationScenario {
        let context = ManualContext()
        return AllocationScenario("one more link: \(name)") { times in
            let resolver = Resolver<Int>(on: context)
            var promise = resolver.promise
            for _ in 0..<times { promise = link(promise) }
            resolver.fulfill(1)
            context.drain()
        }
    }

    private static var fans: [AllocationScenario] {
        let context = ManualContext()
        return [
            AllocationScenario("any of three, a map each and one after") { times in
                for _ in 0..<times {
                    let one = Resolver<Int>(on: context)
                    let two = Resolver<Int>(on: context)
                    let three = Resolver<Int>(on: context)
                    _ = any([
                        (key: 0, promise: one.promise.map { $0 &+ 1 }),
                        (key: 1, promise: two.promise.map { $0 &+ 1 }),
                        (key: 2, promise: three.promise.map { $0 &+ 1 }),
                    ]).map { $0.count }
                    one.fulfill(1)
                    two.fulfill(2)
                    three.fulfill(3)
                    context.drain()
                }
            },
            AllocationScenario("the same with local promises, which are their own input slots") {
                times in
                LocalContext.run(on: context) { local in
                    for _ in 0..<times {
                        let one = LocalResolver<Int>(on: local)
                        let two = LocalResolver<Int>(on: local)
                        let three = LocalResolver<Int>(on: local)
                        _ = local.any([
                            (key: 0, promise: one.promise.map { $0 &+ 1 }),
                            (key: 1, promise: two.promise.map { $0 &+ 1 }),
                            (key: 2, promise: three.promise.map { $0 &+ 1 }),
                        ]).map { $0.count }
                        one.fulfill(1)
                        two.fulfill(2)
                        three.fulfill(3)
                        context.drain()
                    }
                }
            },
        ]
    }
}

private struct Zero: Error {}

/// Stores the promise, so that the compiler does not remove unused work.
@inline(never)
private func use(_ promise: Promise<Int>) { used = promise }
private nonisolated(unsafe) var used: Promise<Int>?

extension ManualContext {
    /// A context for settled promises, which run no jobs.
    fileprivate static let none = ManualContext()
}
