import Promises
import Testing

/// F84 and F85 drawn as marbles: `retry` and `poll`, on both faces.
@Suite(.timeLimit(.minutes(5))) struct RetryMarbleTests {
    /// What each attempt looks like; a further one would be an error of the test.
    final class Attempts {
        private let marbles: Marbles
        private let lines: [String]
        private(set) var begun: [Int] = []
        private(set) var sources: [Marbles.Source] = []

        init(_ lines: [String], _ marbles: Marbles) {
            self.lines = lines
            self.marbles = marbles
        }

        func next() throws -> Promise<Character> {
            guard sources.count < lines.count else { throw Failure("too many") }
            let source = marbles.source(lines[sources.count])
            sources.append(source)
            begun.append(marbles.now)
            return source.promise
        }
    }

    static func run(
        _ policy: RetryPolicy, attempts lines: [String], answer: String, begun: [Int],
        cut: Int? = nil
    ) -> [String] {
        let context = ManualContext()
        return LocalContext.run(on: context) { local in
            let marbles = Marbles(context)
            let attempts = Attempts(lines, marbles)
            let result = local.retry(policy) { _ in try attempts.next().on(local) }
            if let cut { marbles.at(cut) { result.cancel() } }
            marbles.expect(result, answer)
            marbles.finish()
            #expect(attempts.begun == begun)
            #expect(context.liveTimers == 0)
            return attempts.sources.map(\.stopped)
        }
    }

    @Test("F84: fails twice, then works") func thirdTime() {
        let policy = RetryPolicy(maximumAttempts: 3) { _ in .columns(2) }
        _ = Self.run(
            policy, attempts: ["-x", "-y", "-a"], answer: "-------a", begun: [0, 3, 6])
    }

    @Test("F84: the last error after the last attempt") func neverWorks() {
        let policy = RetryPolicy(maximumAttempts: 3) { _ in .columns(1) }
        _ = Self.run(policy, attempts: ["x", "y", "z"], answer: "--z", begun: [0, 1, 2])
    }

    @Test("F84: one attempt is no retry") func once() {
        let policy = RetryPolicy(maximumAttempts: 1)
        _ = Self.run(policy, attempts: ["-x"], answer: "-x", begun: [0])
    }

    @Test("F84: the predicate says no") func notWorthIt() {
        let policy = RetryPolicy(
            maximumAttempts: 9,
            shouldRetry: { error, attempt in
                attempt == 1 || error as? Failure != Failure("y")
            })
        _ = Self.run(policy, attempts: ["-x", "-y"], answer: "--y", begun: [0, 1])
    }

    @Test("F84: cancelled in the middle of an attempt") func cancelledWhileTrying() {
        let policy = RetryPolicy(maximumAttempts: 3)
        let stopped = Self.run(
            policy, attempts: ["-x", "-----a"], answer: "---!", begun: [0, 1], cut: 3)
        #expect(stopped == ["", "---!"])
    }

    @Test("F84: cancelled in the middle of a delay") func cancelledWhileWaiting() {
        let policy = RetryPolicy(maximumAttempts: 3) { _ in .columns(5) }
        _ = Self.run(policy, attempts: ["-x"], answer: "---!", begun: [0], cut: 3)
    }

    @Test("F84: a cancelled attempt is not tried again") func cancelledAttempt() {
        let context = ManualContext()
        let calls = Journal<Int>()
        let result = retry(RetryPolicy(maximumAttempts: 5), on: context) { attempt in
            calls.add(attempt)
            return Promise<Int>.cancelled(on: context)
        }
        context.advance(by: .seconds(1))
        #expect(result.error is Cancelled)
        #expect(calls.entries == [1])
    }

    @Test("F84: no attempt allowed", arguments: [0, -1]) func noAttempt(maximum: Int) {
        let result = retry(RetryPolicy(maximumAttempts: maximum)) { _ in Promise.value(1) }
        #expect(result.error as? PromiseError == .badInput)
    }

    @Test("F84: a body that throws has had its attempt") func throwing() {
        let context = ManualContext()
        let result = retry(RetryPolicy(maximumAttempts: 2), on: context) { attempt in
            if attempt == 1 { throw Failure("first") }
            return Promise.value(attempt, on: context)
        }
        #expect(result.isPending)
        context.drain()
        context.advance(by: .zero)
        #expect(result.value == 2)
    }

    @Test("F84: the delay doubles up to a limit, less a part by chance") func backoff() {
        let plain = RetryPolicy.backoff(from: .seconds(1), upTo: .seconds(5))
        #expect((1...5).map(plain) == [1, 2, 4, 5, 5].map(Duration.seconds))
        #expect(plain(10_000) == .seconds(5))
        let half = RetryPolicy.backoff(from: .seconds(1), upTo: .seconds(5)) { 0.5 }
        #expect((1...3).map(half) == [500, 1_000, 2_000].map(Duration.milliseconds))
    }

    @Test("F84: a million attempts need no stack") func deep() {
        let attempts = ThreadSanitizer.shortened(100_000)
        onAnotherThread(stackBytes: 512 * 1024) {
            let context = ManualContext()
            LocalContext.run(on: context) { local in
                let policy = RetryPolicy(maximumAttempts: attempts)
                let result = local.retry(policy) { attempt -> LocalPromise<Int> in
                    attempt == attempts ? local.value(attempt) : local.error(Failure("x"))
                }
                while result.isPending { context.advance(by: .zero) }
                #expect(result.value == attempts)
            }
        }
    }

    @Test("F85: polls until the answer is right") func polls() {
        let context = ManualContext()
        LocalContext.run(on: context) { local in
            let marbles = Marbles(context)
            let attempts = Attempts(["-n", "n", "-j"], marbles)
            let result = local.poll(every: .columns(2), until: { $0 == "j" }) {
                try attempts.next().on(local)
            }
            marbles.expect(result, "------j")
            #expect(attempts.begun == [0, 3, 5])
        }
    }

    @Test("F85: an error ends the polling") func pollFails() {
        let context = ManualContext()
        LocalContext.run(on: context) { local in
            let marbles = Marbles(context)
            let attempts = Attempts(["-n", "-x"], marbles)
            let result = local.poll(every: .columns(1), until: { $0 == "j" }) {
                try attempts.next().on(local)
            }
            marbles.expect(result, "---x")
        }
    }

    @Test("F85: cancelled between two questions") func pollCancelled() {
        let marbles = Marbles()
        let asked = Journal<Int>()
        let context = marbles.context
        let result = poll(every: .columns(4), on: context, until: { $0 == "j" }) {
            asked.add(1)
            return Promise.value(Character("n"), on: context)
        }
        marbles.at(2) { result.cancel() }
        marbles.expect(result, "--!")
        marbles.finish()
        #expect(asked.entries.count == 1)
        #expect(context.liveTimers == 0)
    }
}
