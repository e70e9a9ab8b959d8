import NIOCore
import Promises

/// The cost of a chain of links: built, settled, run and freed.
struct Chains {
    let loop: Loop
    let eventLoop: any EventLoop
    let tasks: Tasks

    /// Every kind of chain with `links` links; with `base`, without the cost of the first `base`
    /// links.
    func contenders(links: Int, base: Int? = nil) -> [Contender] {
        [
            contender("LocalPromise", local, links, base),
            contender("Promise", promise, links, base),
            contender("EventLoopFuture", future, links, base),
            contender("async let", asyncLet, links, base),
            contender("TaskGroup", taskGroup, links, base),
            contender("callback", callback, links, base),
        ]
    }

    func capturing(links: Int, base: Int) -> [Contender] {
        [
            contender("LocalPromise", localCapturing, links, base),
            contender("Promise", promiseCapturing, links, base),
            contender("EventLoopFuture", futureCapturing, links, base),
        ]
    }

    /// The kinds that can have a million links.
    func long(links: Int) -> [Contender] {
        [
            contender("LocalPromise", local, links, nil),
            contender("Promise", promise, links, nil),
            contender("EventLoopFuture", future, links, nil),
        ]
    }

    private func contender(
        _ name: String, _ chain: @escaping (_ links: Int, _ times: Int) -> Void, _ links: Int,
        _ base: Int?
    ) -> Contender {
        Contender(
            name: name, run: { chain(links, $0) },
            without: base.map { base in { chain(base, $0) } })
    }

    // MARK: Without captures.

    func local(links: Int, times: Int) {
        let loop = loop
        LocalContext.run(on: loop, readyQueue: loop.readyQueue) { local in
            for _ in 0..<times {
                let resolver = LocalResolver<Int>(on: local)
                var promise = resolver.promise
                for _ in 0..<links { promise = promise.map { $0 &+ 1 } }
                resolver.fulfill(1)
                loop.readyQueue.drain()
            }
        }
    }

    func promise(links: Int, times: Int) {
        for _ in 0..<times {
            let resolver = Resolver<Int>(on: loop)
            var promise = resolver.promise
            for _ in 0..<links { promise = promise.map { $0 &+ 1 } }
            resolver.fulfill(1)
            loop.readyQueue.drain()
        }
    }

    func future(links: Int, times: Int) {
        for _ in 0..<times {
            let promise = eventLoop.makePromise(of: Int.self)
            var future = promise.futureResult
            for _ in 0..<links { future = future.map { $0 &+ 1 } }
            promise.succeed(1)
        }
    }

    func asyncLet(links: Int, times: Int) {
        tasks.run {
            for _ in 0..<times {
                var value = 1
                for _ in 0..<links {
                    async let next = incremented(value)
                    value = await next
                }
                sink = value
            }
        }
    }

    func taskGroup(links: Int, times: Int) {
        tasks.run {
            for _ in 0..<times {
                var value = 1
                for _ in 0..<links {
                    value = await withTaskGroup(of: Int.self) { [value] group in
                        group.addTask { await incremented(value) }
                        return await group.next() ?? 0
                    }
                }
                sink = value
            }
        }
    }

    func callback(links: Int, times: Int) {
        for _ in 0..<times {
            var callback: (Int) -> Void = { sink = $0 }
            for _ in 0..<links {
                let next = callback
                callback = { next($0 &+ 1) }
            }
            callback(1)
        }
    }

    // MARK: With captures.

    func localCapturing(links: Int, times: Int) {
        let loop = loop
        LocalContext.run(on: loop, readyQueue: loop.readyQueue) { local in
            for _ in 0..<times {
                let resolver = LocalResolver<Int>(on: local)
                var promise = resolver.promise
                for link in 0..<links { promise = promise.map { $0 &+ link } }
                resolver.fulfill(1)
                loop.readyQueue.drain()
            }
        }
    }

    func promiseCapturing(links: Int, times: Int) {
        for _ in 0..<times {
            let resolver = Resolver<Int>(on: loop)
            var promise = resolver.promise
            for link in 0..<links { promise = promise.map { $0 &+ link } }
            resolver.fulfill(1)
            loop.readyQueue.drain()
        }
    }

    func futureCapturing(links: Int, times: Int) {
        for _ in 0..<times {
            let promise = eventLoop.makePromise(of: Int.self)
            var future = promise.futureResult
            for link in 0..<links { future = future.map { $0 &+ link } }
            promise.succeed(1)
        }
    }
}

/// Receives unused results, so that the compiler does not remove their computation.
nonisolated(unsafe) var sink = 0

@concurrent @Sendable
func incremented(_ value: Int) async -> Int { value &+ 1 }
