import NIOCore
import Promises

/// The cases of google/promises' benchmark: the time until the first, second and third block of a
/// settled promise runs, and the time to settle 10,000 pending promises with a block each.
struct GoogleRows {
    let loop: Loop
    let eventLoop: any EventLoop

    func blocks(_ count: Int) -> [Contender] {
        [
            Contender(name: "LocalPromise") { times in
                let loop = loop
                LocalContext.run(on: loop, readyQueue: loop.readyQueue) { local in
                    for _ in 0..<times {
                        var promise = local.value(1)
                        for _ in 0..<count { promise = promise.map { $0 &+ 1 } }
                        loop.readyQueue.drain()
                    }
                }
            },
            Contender(name: "Promise") { times in
                for _ in 0..<times {
                    var promise = Promise.value(1, on: loop)
                    for _ in 0..<count { promise = promise.map { $0 &+ 1 } }
                    loop.readyQueue.drain()
                }
            },
            Contender(name: "EventLoopFuture") { times in
                for _ in 0..<times {
                    var future = eventLoop.makeSucceededFuture(1)
                    for _ in 0..<count { future = future.map { $0 &+ 1 } }
                }
            },
        ]
    }

    func pending(_ count: Int) -> [Contender] {
        [
            Contender(name: "LocalPromise") { times in
                let loop = loop
                LocalContext.run(on: loop, readyQueue: loop.readyQueue) { local in
                    for _ in 0..<times {
                        var resolvers = NoncopyableArray<LocalResolver<Int>>(capacity: count)
                        for _ in 0..<count {
                            let resolver = LocalResolver<Int>(on: local)
                            _ = resolver.promise.map { $0 &+ 1 }
                            resolvers.append(resolver)
                        }
                        resolvers.forEach { $0.fulfill(1) }
                        loop.readyQueue.drain()
                    }
                }
            },
            Contender(name: "Promise") { times in
                for _ in 0..<times {
                    var resolvers = NoncopyableArray<Resolver<Int>>(capacity: count)
                    for _ in 0..<count {
                        let resolver = Resolver<Int>(on: loop)
                        _ = resolver.promise.map { $0 &+ 1 }
                        resolvers.append(resolver)
                    }
                    resolvers.forEach { $0.fulfill(1) }
                    loop.readyQueue.drain()
                }
            },
            Contender(name: "EventLoopFuture") { times in
                for _ in 0..<times {
                    var promises: [EventLoopPromise<Int>] = []
                    promises.reserveCapacity(count)
                    for _ in 0..<count {
                        let promise = eventLoop.makePromise(of: Int.self)
                        _ = promise.futureResult.map { $0 &+ 1 }
                        promises.append(promise)
                    }
                    for promise in promises { promise.succeed(1) }
                }
            },
        ]
    }
}

/// A list of noncopyable elements. NIO's promises are copyable and need only an array.
struct NoncopyableArray<Element: ~Copyable>: ~Copyable {
    private let memory: UnsafeMutablePointer<Element>
    private var count = 0

    init(capacity: Int) { memory = .allocate(capacity: capacity) }

    deinit { memory.deallocate() }

    mutating func append(_ element: consuming Element) {
        (memory + count).initialize(to: element)
        count += 1
    }

    consuming func forEach(_ body: (consuming Element) -> Void) {
        for index in 0..<count { body((memory + index).move()) }
    }
}
