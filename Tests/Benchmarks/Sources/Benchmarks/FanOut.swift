import NIOCore
import Promises

/// Three promises that are settled one after the other, one `map` each, combined (by `any` of
/// ordered inputs, by `whenAllComplete`, by a task group), followed by one `map`.
struct FanOut {
    let loop: Loop
    let eventLoop: any EventLoop
    let tasks: Tasks

    var contenders: [Contender] {
        [
            Contender(name: "LocalPromise", run: local),
            Contender(name: "Promise", run: promise),
            Contender(name: "EventLoopFuture", run: future),
            Contender(name: "TaskGroup", run: taskGroup),
            Contender(name: "async let", run: asyncLet),
            Contender(name: "callback", run: callback),
        ]
    }

    /// As in a handler on the loop: tasks start on the loop's thread, which waits for the result.
    /// In `contenders` one task does all the work and never leaves the executor.
    var fromTheLoop: [Contender] {
        [
            Contender(name: "LocalPromise", run: local),
            Contender(name: "Promise", run: promise),
            Contender(name: "EventLoopFuture", run: future),
            Contender(name: "TaskGroup") { times in
                for _ in 0..<times { taskGroup(times: 1) }
            },
            Contender(name: "async let") { times in
                for _ in 0..<times { asyncLet(times: 1) }
            },
            Contender(name: "callback", run: callback),
        ]
    }

    private func local(times: Int) {
        let loop = loop
        LocalContext.run(on: loop, readyQueue: loop.readyQueue) { local in
            for _ in 0..<times {
                let one = LocalResolver<Int>(on: local)
                let two = LocalResolver<Int>(on: local)
                let three = LocalResolver<Int>(on: local)
                _ = local.any([
                    (key: 0, promise: one.promise.map { $0 &+ 1 }),
                    (key: 1, promise: two.promise.map { $0 &+ 1 }),
                    (key: 2, promise: three.promise.map { $0 &+ 1 }),
                ]).map { result in
                    for index in 0..<result.count {
                        if case .success(let value) = result.result(at: index) { sink &+= value }
                    }
                }
                one.fulfill(1)
                two.fulfill(2)
                three.fulfill(3)
                loop.readyQueue.drain()
            }
        }
    }

    private func promise(times: Int) {
        for _ in 0..<times {
            let one = Resolver<Int>(on: loop)
            let two = Resolver<Int>(on: loop)
            let three = Resolver<Int>(on: loop)
            _ = any([
                (key: 0, promise: one.promise.map { $0 &+ 1 }),
                (key: 1, promise: two.promise.map { $0 &+ 1 }),
                (key: 2, promise: three.promise.map { $0 &+ 1 }),
            ]).map { result in
                for index in 0..<result.count {
                    if case .success(let value) = result.result(at: index) { sink &+= value }
                }
            }
            one.fulfill(1)
            two.fulfill(2)
            three.fulfill(3)
            loop.readyQueue.drain()
        }
    }

    private func future(times: Int) {
        for _ in 0..<times {
            let one = eventLoop.makePromise(of: Int.self)
            let two = eventLoop.makePromise(of: Int.self)
            let three = eventLoop.makePromise(of: Int.self)
            let inputs = [
                one.futureResult.map { $0 &+ 1 },
                two.futureResult.map { $0 &+ 1 },
                three.futureResult.map { $0 &+ 1 },
            ]
            _ = EventLoopFuture.whenAllComplete(inputs, on: eventLoop).map { results in
                for case .success(let value) in results { sink &+= value }
            }
            one.succeed(1)
            two.succeed(2)
            three.succeed(3)
        }
    }

    private func taskGroup(times: Int) {
        tasks.run {
            for _ in 0..<times {
                await withTaskGroup(of: (Int, Int).self) { group in
                    for key in 0..<3 { group.addTask { (key, await incremented(key)) } }
                    for await (_, value) in group { sink &+= value }
                }
            }
        }
    }

    private func asyncLet(times: Int) {
        tasks.run {
            for _ in 0..<times {
                async let one = incremented(1)
                async let two = incremented(2)
                async let three = incremented(3)
                for value in await [one, two, three] { sink &+= value }
            }
        }
    }

    private func callback(times: Int) {
        final class Collector {
            var values: [Int?] = [nil, nil, nil]
            var missing = 3
            let done: ([Int?]) -> Void
            init(_ done: @escaping ([Int?]) -> Void) { self.done = done }
            func collect(_ value: Int, at index: Int) {
                values[index] = value
                missing -= 1
                if missing == 0 { done(values) }
            }
        }
        for _ in 0..<times {
            let collector = Collector { values in
                for case .some(let value) in values { sink &+= value }
            }
            let callbacks: [(Int) -> Void] = (0..<3).map { index in
                { collector.collect($0 &+ 1, at: index) }
            }
            for (index, callback) in callbacks.enumerated() { callback(index) }
        }
    }
}
