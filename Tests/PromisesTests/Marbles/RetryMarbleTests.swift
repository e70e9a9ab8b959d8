import Promises
import Testing

/// F84 and F85 as marble diagrams: `retry` and `poll`, with both promise types.
@Suite(.timeLimit(.minutes(5))) struct RetryMarbleTests {
    /// The diagrams of the attempts; a further attempt is an error of the test.
    final class Attempts {
        private let marbles: Marbles
        private let lines: [String]
        private(set) var starts: [Int] = []
        private(set) var sources: [Marbles.Source] = []

        init(_ lines: [String], _ marbles: Marbles) {
            self.lines = lines
            self.marbles = marbles
        }

        func startAttempt() throws -> Promise<Character> {
            guard sources.count < lines.count else { throw Failure("too many") }
            let source = marbles.source(lines[sources.count])
            sources.append(source)
            starts.append(marbles.now)
            return source.promise
        }
    }

    static func checkRetry(
        _ policy: RetryPolicy, attempts lines: [String], expected: String, starts: [Int],
        cancelledAt column: Int? = nil
    ) -> [String] {
        let context = ManualContext()
        return LocalContext.run(on: context) { local in
            let marbles = Marbles(context)
            let attempts = Attempts(lines, marbles)
            let result = local.retry(policy) { _ in try attempts.startAttempt().on(local) }
            if let column { marbles.at(column) { result.cancel() } }
            marbles.expect(result, expected)
            marbles.finish()
            #expect(attempts.starts == starts)
            #expect(context.liveTimers == 0)
            return attempts.sources.map(\.stopped)
        }
    }

    @Test("F84: retry returns the first value") func retryReturnsTheFirstValue() {
        let policy = RetryPolicy(maximumAttempts: 3) { _ in .columns(2) }
        _ = Self.checkRetry(
            policy, attempts: ["-x", "-y", "-a"], expected: "-------a", starts: [0, 3, 6])
    }

    @Test("F84: retry rejects with the last error") func retryRejectsWithTheLastError() {
        let policy = RetryPolicy(maximumAttempts: 3) { _ in .columns(1) }
        _ = Self.checkRetry(policy, attempts: ["x", "y", "z"], expected: "--z", starts: [0, 1, 2])
    }

    @Test("F84: one attempt does not retry") func oneAttemptDoesNotRetry() {
        let policy = RetryPolicy(maximumAttempts: 1)
        _ = Self.checkRetry(policy, attempts: ["-x"], expected: "-x", starts: [0])
    }

    @Test("F84: shouldRetry stops retrying") func shouldRetryStopsRetrying() {
        let policy = RetryPolicy(
            maximumAttempts: 9,
            shouldRetry: { error, attempt in
                attempt == 1 || error as? Failure != Failure("y")
            })
        _ = Self.checkRetry(policy, attempts: ["-x", "-y"], expected: "--y", starts: [0, 1])
    }

    @Test("F84: cancelling during an attempt stops it") func cancellingDuringAnAttemptStopsIt() {
        let policy = RetryPolicy(maximumAttempts: 3)
        let stopped = Self.checkRetry(
            policy, attempts: ["-x", "-----a"], expected: "---!", starts: [0, 1], cancelledAt: 3)
        #expect(stopped == ["", "---!"])
    }

    @Test("F84: cancelling during a delay ends it") func cancellingDuringADelayEndsIt() {
        let policy = RetryPolicy(maximumAttempts: 3) { _ in .columns(5) }
        _ = Self.checkRetry(policy, attempts: ["-x"], expected: "---!", starts: [0], cancelledAt: 3)
    }

    @Test("F84: a cancelled attempt is not retried") func aCancelledAttemptIsNotRetried() {
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

    @Test("F84: a policy without attempts rejects", arguments: [0, -1])
    func retryWithoutAttemptsRejects(maximum: Int) {
        let result = retry(RetryPolicy(maximumAttempts: maximum)) { _ in Promise.value(1) }
        #expect(result.error as? PromiseError == .badInput)
    }

    @Test("F84: a throwing body counts as an attempt") func aThrowingBodyCountsAsAnAttempt() {
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

    @Test("F84: the delay doubles up to a limit, less a random part")
    func backoffDoublesUpToItsLimit() {
        let plain = RetryPolicy.backoff(from: .seconds(1), upTo: .seconds(5))
        #expect((1...5).map(plain) == [1, 2, 4, 5, 5].map(Duration.seconds))
        #expect(plain(10_000) == .seconds(5))
        let half = RetryPolicy.backoff(from: .seconds(1), upTo: .seconds(5)) { 0.5 }
        #expect((1...3).map(half) == [500, 1_000, 2_000].map(Duration.milliseconds))
    }

    @Test("F84: 100,000 attempts need no stack") func manyAttemptsNeedNoStack() {
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

    @Test("F85: poll repeats until the condition holds") func pollRepeatsUntilTheConditionHolds() {
        let context = ManualContext()
        LocalContext.run(on: context) { local in
            let marbles = Marbles(context)
            let attempts = Attempts(["-n", "n", "-j"], marbles)
            let result = local.poll(every: .columns(2), until: { $0 == "j" }) {
                try attempts.startAttempt().on(local)
            }
            marbles.expect(result, "------j")
            #expect(attempts.starts == [0, 3, 5])
        }
    }

    @Test("F85: an error ends the polling") func anErrorEndsPolling() {
        let context = ManualContext()
        LocalContext.run(on: context) { local in
            let marbles = Marbles(context)
            let attempts = Attempts(["-n", "-x"], marbles)
            let result = local.poll(every: .columns(1), until: { $0 == "j" }) {
                try attempts.startAttempt().on(local)
            }
            marbles.expect(result, "---x")
        }
    }

    @Test("F85: cancelling between two attempts ends polling")
    func cancellingBetweenAttemptsEndsPolling() {
        let marbles = Marbles()
        let requests = Journal<Int>()
        let context = marbles.context
        let result = poll(every: .columns(4), on: context, until: { $0 == "j" }) {
            requests.add(1)
            return Promise.value(Character("n"), on: context)
        }
        marbles.at(2) { result.cancel() }
        marbles.expect(result, "--!")
        marbles.finish()
        #expect(requests.entries.count == 1)
        #expect(context.liveTimers == 0)
    }
}
